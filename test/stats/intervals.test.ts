import { describe, expect, test } from "vitest";
import { clopperPearsonInterval } from "../../lib/stats/proportion_intervals.ts";
import { scoreDifference } from "../../lib/stats/score_difference.ts";
import { tInterval } from "../../lib/stats/t_interval.ts";
import { fisherExact, newcombeDifference } from "../../lib/stats/two_proportions.ts";
import { wilsonInterval } from "../../lib/stats/wilson_interval.ts";
import { expectGoldenAgreement } from "../golden/agreement.ts";

test("wilsonInterval() and the other intervals of a proportion agree with statsmodels on the golden rows", () =>
  expectGoldenAgreement("proportion_ci"));
test("tInterval() agrees with scipy on the golden rows", () => expectGoldenAgreement("t_interval"));
test("intervals and tests of two proportions agree with statsmodels and scipy on the golden rows", () =>
  expectGoldenAgreement("two_prop"));

describe("wilsonInterval()", () => {
  test("of 134 in 140 is [91.0, 98.0] %", () => {
    const { low, high } = wilsonInterval(134, 140);
    expect([(100 * low).toFixed(1), (100 * high).toFixed(1)]).toEqual(["91.0", "98.0"]);
  });

  test("stays inside [0, 1] and holds the share where every trial or none succeeds", () => {
    for (const trials of [1, 3, 140, 1e6]) {
      expect(wilsonInterval(trials, trials)).toMatchObject({ high: 1 });
      expect(wilsonInterval(0, trials)).toMatchObject({ low: 0 });
      expect(wilsonInterval(trials, trials).low).toBeGreaterThan(0);
      expect(wilsonInterval(trials, trials).low).toBeLessThan(1);
    }
  });

  test("narrows with more trials", () => {
    const width = (trials: number) => {
      const { low, high } = wilsonInterval(trials / 2, trials);
      return high - low;
    };
    expect(width(400)).toBeLessThan(width(100) * 0.52);
  });

  test("throws on counts that cannot be", () => {
    for (const [successes, trials] of [[0, 0], [5, 4], [-1, 4], [0.5, 4], [1, 1.5]]) {
      expect(() => wilsonInterval(successes, trials)).toThrow(RangeError);
    }
  });
});

test("clopperPearsonInterval() is wider than Wilson's", () => {
  const exact = clopperPearsonInterval(7, 20);
  const wilson = wilsonInterval(7, 20);
  expect(exact.low).toBeLessThan(wilson.low);
  expect(exact.high).toBeGreaterThan(wilson.high);
});

describe("tInterval()", () => {
  test("of three seeds uses t = 4.303", () => {
    const { mean, standardError, low, high } = tInterval([0.4, 0.42, 0.44]);
    expect(mean).toBeCloseTo(0.42, 12);
    expect((high! - low!) / 2 / standardError!).toBeCloseTo(4.302652729911275, 9);
  });

  test("has null ends for one seed and for seeds without spread", () => {
    expect(tInterval([0.4])).toEqual({ mean: 0.4, standardError: null, degreesOfFreedom: 0, low: null, high: null });
    expect(tInterval([0.4, 0.4, 0.4])).toMatchObject({ standardError: 0, low: null, high: null });
  });

  test("throws without seeds", () => expect(() => tInterval([])).toThrow(RangeError));
});

describe("scoreDifference()", () => {
  // Newcombe 1998 (Statistics in Medicine 17:873), table II, method 6.
  test.each([
    [56, 70, 48, 80, 0.0528, 0.3382],
    [9, 10, 3, 10, 0.17, 0.8406],
    [5, 56, 0, 29, -0.0326, 0.1933],
    [10, 10, 0, 20, 0.7156, 1],
  ])("of %d/%d against %d/%d is the published interval", (a, n, b, m, low, high) => {
    const interval = scoreDifference({ successes: a, trials: n }, { successes: b, trials: m });
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  test("changes its sign with the order of the arms, also at the borders", () => {
    for (const [a, b] of [[0, 10], [10, 10], [10, 0], [3, 7], [5, 5]]) {
      const first = { successes: a, trials: 10 };
      const second = { successes: b, trials: 10 };
      const forth = scoreDifference(first, second);
      const back = scoreDifference(second, first);
      expect(forth.low).toBeCloseTo(-back.high, 9);
      expect(forth.high).toBeCloseTo(-back.low, 9);
    }
  });
});

test("newcombeDifference() of 56/70 against 48/80 is the published interval", () => {
  const { low, high } = newcombeDifference({ successes: 56, trials: 70 }, { successes: 48, trials: 80 });
  expect([low.toFixed(4), high.toFixed(4)]).toEqual(["0.0524", "0.3339"]);
});

test("fisherExact() of the tea tasting with 3 of 4 cups is 0.4857", () => {
  expect(fisherExact({ successes: 3, trials: 4 }, { successes: 1, trials: 4 })).toBeCloseTo(34 / 70, 12);
});
