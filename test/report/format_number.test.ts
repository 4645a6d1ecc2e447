import { expect, test } from "vitest";
import {
  formatCount,
  formatDifference,
  formatInterval,
  formatNumber,
  formatPercent,
  MISSING,
  plainNumber,
} from "../../lib/report/format_number.ts";

test("formatNumber() writes three decimals, a true minus, and nothing where there is no number", () => {
  expect([0.9666, 1, -0.0312, 12.5].map((value) => formatNumber(value))).toEqual([
    "0.967",
    "1.000",
    "−0.031",
    "12.500",
  ]);
  expect([null, NaN, Infinity, -Infinity].map((value) => formatNumber(value))).toEqual([
    MISSING,
    MISSING,
    MISSING,
    MISSING,
  ]);
  expect(formatNumber(2.0666, 2)).toBe("2.07");
});

test("formatNumber() gives a value that rounds to zero no sign", () => {
  expect(formatNumber(-0.0004)).toBe("0.000");
  expect(formatDifference(0.0004)).toBe("0.000");
  expect(formatDifference(-0.0004)).toBe("0.000");
});

test("formatDifference() always shows a direction", () => {
  expect([0.055, -0.055, null].map((value) => formatDifference(value))).toEqual(["+0.055", "−0.055", MISSING]);
});

test("formatInterval() writes both ends", () => {
  expect(formatInterval({ low: -0.0042, high: 0.983 })).toBe("[−0.004, 0.983]");
  expect(formatInterval(null)).toBe(MISSING);
});

test("plainNumber() is what formatNumber() shows, readable by Number()", () => {
  for (const value of [-1.23456, -0.0001, 0, 0.5, 123.4567]) {
    expect(Number(plainNumber(value))).toBeCloseTo(value, 3);
    expect(plainNumber(value)).toBe(formatNumber(value).replace("−", "-"));
  }
  expect(plainNumber(NaN)).toBeNull();
});

test("formatCount() groups thousands and formatPercent() drops needless decimals", () => {
  expect([formatCount(3610), formatCount(7), formatCount(null)]).toEqual(["3,610", "7", MISSING]);
  expect([formatPercent(0.95), formatPercent(0.999)]).toEqual(["95 %", "99.9 %"]);
});
