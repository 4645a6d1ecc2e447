import { describe, expect, test } from "vitest";
import { discountedReturns } from "../../../lib/method/numerics/discounted_returns.ts";
import { generalizedAdvantage } from "../../../lib/method/numerics/generalized_advantage.ts";
import { maskedMean, maskedVariance, maskedWhiten } from "../../../lib/method/numerics/masked_statistics.ts";
import { expectGoldenAgreement } from "../../golden/agreement.ts";

test("generalizedAdvantage() agrees with verl on the golden rows", () => expectGoldenAgreement("gae"));
test("maskedMean(), maskedVariance() and maskedWhiten() agree with verl on the golden rows", () =>
  expectGoldenAgreement("masked_stats"));

describe("generalizedAdvantage()", () => {
  const rewards = [[0, 0, 1]];
  const values = [[0.2, 0.4, 0.6]];
  const all = [[1, 1, 1]];

  test("with gamma = lambda = 1 is the return less the value", () => {
    const { advantages, returns } = generalizedAdvantage(rewards, values, all, 1, 1);
    expect(returns[0].map((value) => Number(value.toFixed(12)))).toEqual([1, 1, 1]);
    expect(advantages[0][0]).toBeCloseTo(0.8, 12);
  });

  test("passes over masked tokens, whatever stands there", () => {
    const { advantages } = generalizedAdvantage([[0, 5, 0, 1]], [[0.2, 9, 0.4, 0.6]], [[1, 0, 1, 1]], 0.9, 0.8);
    const { advantages: without } = generalizedAdvantage(rewards, values, all, 0.9, 0.8);
    expect([advantages[0][0], advantages[0][2], advantages[0][3]]).toEqual(without[0]);
  });

  test("throws where fewer than two tokens are unmasked", () => {
    expect(() => generalizedAdvantage(rewards, values, [[1, 0, 0]], 1, 1)).toThrow(RangeError);
  });
});

test("maskedWhiten() has mean 0 and variance 1 over unmasked tokens, and keeps the mean on demand", () => {
  const values = [[1, 5, 100], [2, 9, -50]];
  const mask = [[1, 1, 0], [1, 1, 0]];
  const whitened = maskedWhiten(values, mask);
  expect(maskedMean(whitened, mask)).toBeCloseTo(0, 6);
  expect(maskedVariance(whitened, mask)).toBeCloseTo(1, 6);
  expect(maskedMean(maskedWhiten(values, mask, false), mask)).toBeCloseTo(4.25, 6);
});

test("maskedVariance() throws where fewer than two tokens are unmasked, maskedMean() does not", () => {
  expect(() => maskedVariance([[1, 2]], [[1, 0]])).toThrow(RangeError);
  expect(() => maskedVariance([[1, 2]], [[0, 0]])).toThrow(RangeError);
  expect(maskedMean([[1, NaN]], [[0, 0]])).toBe(0);
});

test("discountedReturns() discounts inside each of several mixed trajectories", () => {
  expect(discountedReturns([0, 1, 4, 8], ["a", "b", "a", "b"], 0.5)).toEqual([2, 5, 4, 8]);
});

test("discountedReturns() throws on a step behind its trajectory's end", () => {
  expect(() => discountedReturns([0, 1], ["a", "a"], 1, [1, 0])).toThrow(/step 1/);
});
