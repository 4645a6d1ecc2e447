import { describe, expect, test } from "vitest";
import { clusteredError, intraclassCorrelation } from "../../lib/stats/clustered_error.ts";
import { mannWhitneyExact } from "../../lib/stats/mann_whitney.ts";
import { mcnemarExact, mcnemarMidP } from "../../lib/stats/mcnemar.ts";
import { averageAtK, passAtK } from "../../lib/stats/pass_at_k.ts";
import { minimumDetectableRise, twoProportionPower } from "../../lib/stats/power.ts";
import { quantile } from "../../lib/stats/quantile.ts";
import { interquartileMean, probabilityOfImprovement } from "../../lib/stats/reliable_aggregates.ts";
import { findRoot } from "../../lib/stats/root.ts";
import { expectGoldenAgreement } from "../golden/agreement.ts";

describe("agrees with scipy, statsmodels, rliable and numpy on the golden rows", () => {
  test.each([
    "mcnemar",
    "mann_whitney",
    "power_two_prop",
    "mde_two_prop",
    "pass_at_k",
    "avg_at_k",
    "clustered_se",
    "icc_oneway",
    "aggregates",
    "performance_profile",
    "prob_improvement",
    "quantile",
  ])("%s", (fn) => expectGoldenAgreement(fn));
});

test("mcnemarExact() needs 6 discordant items one way for p < 0.05", () => {
  expect(mcnemarExact(5, 0)).toBeCloseTo(0.0625, 12);
  expect(mcnemarExact(0, 6)).toBeCloseTo(0.03125, 12);
  expect(mcnemarExact(4, 4)).toBe(1);
  expect(mcnemarMidP(0, 6)).toBeLessThan(mcnemarExact(0, 6));
  expect(() => mcnemarExact(-1, 2)).toThrow(RangeError);
});

test("mannWhitneyExact() of 3 against 3 cannot go below 0.1, of 4 against 4 it can", () => {
  expect(mannWhitneyExact([4, 5, 6], [1, 2, 3]).p).toBeCloseTo(0.1, 12);
  expect(mannWhitneyExact([5, 6, 7, 8], [1, 2, 3, 4]).p).toBeCloseTo(2 / 70, 12);
});

test("passAtK() is not the plug-in form and does not halve as k doubles", () => {
  expect(passAtK(16, 7, 1)).toBeCloseTo(0.4375, 12);
  expect(passAtK(16, 7, 2)).toBeCloseTo(1 - (9 * 8) / (16 * 15), 12);
  expect(passAtK(4, 2, 3)).toBe(1);
  expect(() => passAtK(4, 5, 1)).toThrow(RangeError);
});

test("averageAtK() errors: more samples a question shrink only the re-run error", () => {
  const few = averageAtK([1, 2, 0, 4], 4);
  const many = averageAtK([10, 20, 0, 40], 40);
  expect(many.questionError).toBeCloseTo(few.questionError, 12);
  expect(many.rerunError).toBeLessThan(few.rerunError / 3);
});

test("clusteredError() grows with clusters of equal items by the design effect", () => {
  const clusters = [[1, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0]];
  const { independentError, correctedError } = clusteredError(clusters);
  expect(correctedError).toBeGreaterThan(1.7 * independentError);
  expect(intraclassCorrelation(clusters)).toMatchObject({ correlation: 1, designEffect: 3 });
});

test("minimumDetectableRise() is found with the power that was asked for", () => {
  const design = { trials: [140, 140] as const };
  const rise = minimumDetectableRise(0.45, 0.8, design)!;
  expect(twoProportionPower(0.45 + rise, 0.45, design)).toBeCloseTo(0.8, 9);
  expect(minimumDetectableRise(0.99, 0.8, design)).toBeNull();
});

test("interquartileMean() ignores the outer quarters, probabilityOfImprovement() counts ties half", () => {
  expect(interquartileMean([[0, 1, 2, 1000]])).toBe(1.5);
  expect(probabilityOfImprovement([[1], [2]], [[1], [1]])).toBe(0.75);
});

test("quantile() interpolates and throws on nothing", () => {
  expect(quantile([3, 1, 2], 0.25)).toBe(1.5);
  expect(() => quantile([], 0.5)).toThrow(RangeError);
  expect(() => quantile([1], 2)).toThrow(RangeError);
});

test("findRoot() finds a root to the last bit and throws where the sign does not change", () => {
  expect(findRoot((x) => x * x - 2, 0, 2)).toBeCloseTo(Math.SQRT2, 15);
  expect(() => findRoot((x) => x * x + 1, 0, 2)).toThrow(RangeError);
});
