import { describe, expect, test } from "vitest";
import { areaUnderCurve } from "../../lib/stats/area_under_curve.ts";
import { effortToThreshold, restrictedMean } from "../../lib/stats/restricted_mean.ts";

// numpy.trapezoid([0, 0.4, 0.5, 0.5], [0, 100, 300, 400]) / 400
test("areaUnderCurve() is numpy's trapezoid over the range", () => {
  const curve = [{ x: 0, y: 0 }, { x: 100, y: 0.4 }, { x: 300, y: 0.5 }, { x: 400, y: 0.5 }];
  expect(areaUnderCurve(curve)).toBeCloseTo(0.4, 12);
});

test("areaUnderCurve() of a flat curve is its height, wherever it begins", () => {
  expect(areaUnderCurve([{ x: 50, y: 0.3 }, { x: 60, y: 0.3 }, { x: 1000, y: 0.3 }])).toBeCloseTo(0.3, 12);
});

test("areaUnderCurve() throws on fewer than two points and on points out of order", () => {
  expect(() => areaUnderCurve([{ x: 0, y: 1 }])).toThrow(RangeError);
  expect(() => areaUnderCurve([{ x: 1, y: 1 }, { x: 1, y: 1 }])).toThrow(RangeError);
});

test("effortToThreshold() is the first point at or above the threshold, also if the curve falls again", () => {
  const curve = [{ x: 0, y: 0.1 }, { x: 10, y: 0.5 }, { x: 20, y: 0.2 }, { x: 30, y: 0.6 }];
  expect(effortToThreshold(curve, 0.5)).toBe(10);
  expect(effortToThreshold(curve, 0.55)).toBe(30);
  expect(effortToThreshold(curve, 0.7)).toBeNull();
});

describe("restrictedMean()", () => {
  test("counts runs that did not arrive as the whole budget", () => {
    expect(restrictedMean([100, null, 300, 500], 400)).toEqual({
      mean: 300,
      restricted: [100, 400, 300, 400],
      reached: 2,
      censored: 2,
      budget: 400,
    });
  });

  test("does not count an arrival at the budget itself as censored", () => {
    expect(restrictedMean([400], 400)).toMatchObject({ reached: 1, censored: 0, mean: 400 });
  });

  test("throws without runs or without budget", () => {
    expect(() => restrictedMean([], 400)).toThrow(RangeError);
    expect(() => restrictedMean([1], 0)).toThrow(RangeError);
  });
});
