import { describe, expect, test } from "vitest";
import { randomStream } from "../../lib/random/stream.ts";
import { pairedDifference, resampledMeans } from "../../lib/stats/paired_difference.ts";
import { pairedT } from "../../lib/stats/paired_t.ts";
import { pairedTost, welchTost } from "../../lib/stats/tost.ts";
import { studentT, welchT } from "../../lib/stats/welch_t.ts";
import { expectGoldenAgreement } from "../golden/agreement.ts";

test("pairedT() agrees with scipy on the golden rows", () => expectGoldenAgreement("paired_t"));
test("welchT() and studentT() agree with scipy on the golden rows", () => expectGoldenAgreement("welch_t"));
test("welchTost() agrees with statsmodels on the golden rows", () => expectGoldenAgreement("tost_welch"));
test("pairedTost() agrees with statsmodels on the golden rows", () => expectGoldenAgreement("tost_paired"));

const FIRST = [0.41, 0.44, 0.39, 0.46];
const SECOND = [0.38, 0.42, 0.38, 0.41];

test("pairedT() finds what welchT() cannot where items differ more than arms", () => {
  expect(pairedT(FIRST, SECOND).p).toBeLessThan(0.06);
  expect(welchT(FIRST, SECOND).p).toBeGreaterThan(0.15);
});

test("t-tests change sign with the order of the samples and keep p", () => {
  for (const compare of [pairedT, welchT, studentT]) {
    const forth = compare(FIRST, SECOND);
    const back = compare(SECOND, FIRST);
    expect(back.t).toBeCloseTo(-forth.t, 12);
    expect(back.p).toBeCloseTo(forth.p, 12);
    expect(back.low).toBeCloseTo(-forth.high, 12);
  }
});

test("t-tests reject at 5 % exactly where their 95 % interval leaves 0 out", () => {
  for (const shift of [0, 0.01, 0.02, 0.03, 0.05, 0.2]) {
    const { p, low, high } = welchT(FIRST.map((value) => value + shift), SECOND);
    expect(p < 0.05).toBe(low > 0 || high < 0);
  }
});

test("t-tests throw on too few values and on pairs that do not match", () => {
  expect(() => pairedT([1], [2])).toThrow(RangeError);
  expect(() => pairedT([1, 2], [2])).toThrow(/pair 2 values with 1/);
  expect(() => welchT([1], [2, 3])).toThrow(RangeError);
  expect(() => studentT([1], [2])).toThrow(RangeError);
});

describe("TOST", () => {
  test("declares equivalence exactly where the 90 % interval lies inside the margin", () => {
    for (const high of [0.02, 0.04, 0.06, 0.1]) {
      for (
        const { p, interval } of [
          welchTost(FIRST, SECOND, { low: -0.1, high }),
          pairedTost(FIRST, SECOND, { low: -0.1, high }),
        ]
      ) {
        expect(p < 0.05).toBe(interval.low > -0.1 && interval.high < high);
      }
    }
  });

  test("throws on an empty margin", () => {
    expect(() => welchTost(FIRST, SECOND, { low: 0.1, high: 0.1 })).toThrow(RangeError);
  });
});

describe("pairedDifference()", () => {
  const first = Array.from({ length: 100 }, (_, item) => item % 2);
  const second = Array.from({ length: 100 }, (_, item) => item % 2 === 1 && item < 70 ? 1 : 0);
  const options = (name: string) => ({ stream: randomStream(name), resamples: 4000 });

  test("brackets the difference, and its interval is the normal one for many items", () => {
    const { difference, low, high, p } = pairedDifference(first, second, options("a"));
    expect(difference).toBeCloseTo(0.15, 12);
    const half = 1.96 * Math.sqrt(0.15 * 0.85 / 100);
    expect(low).toBeCloseTo(0.15 - half, 1);
    expect(high).toBeCloseTo(0.15 + half, 1);
    expect(p).toBeLessThan(0.01);
  });

  test("gives the same numbers from the same stream and others from another", () => {
    const means = (name: string) => [...resampledMeans(first, 20, randomStream(name))];
    expect(means("a")).toEqual(means("a"));
    expect(means("a")).not.toEqual(means("b"));
  });

  test("of equal arms is 0 with p = 1", () => {
    expect(pairedDifference(first, first, options("a"))).toEqual({ difference: 0, low: 0, high: 0, p: 1 });
  });

  test("throws on no items and on different panels", () => {
    expect(() => pairedDifference([], [], options("a"))).toThrow(RangeError);
    expect(() => pairedDifference([1, 0], [1], options("a"))).toThrow(RangeError);
  });
});
