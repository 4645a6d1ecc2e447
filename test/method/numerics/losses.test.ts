import { describe, expect, test } from "vitest";
import { aggregateLoss } from "../../../lib/method/numerics/aggregate_loss.ts";
import { adaptKlCoefficient } from "../../../lib/method/numerics/adaptive_kl.ts";
import { klPenalty } from "../../../lib/method/numerics/kl_penalty.ts";
import type { KlEstimator } from "../../../lib/method/numerics/kl_penalty.ts";
import { labelLogprob, logSumExp, softmaxEntropy } from "../../../lib/method/numerics/logits.ts";
import { ppoLoss } from "../../../lib/method/numerics/ppo_loss.ts";
import { valueLoss } from "../../../lib/method/numerics/value_loss.ts";
import { expectGoldenAgreement } from "../../golden/agreement.ts";

const derivative = (f: (x: number) => number, x: number) => (f(x + 1e-6) - f(x - 1e-6)) / 2e-6;

test("aggregateLoss() agrees with verl on the golden rows", () => expectGoldenAgreement("agg_loss"));
test("klPenalty() agrees with verl on the golden rows, gradients included", () => expectGoldenAgreement("kl"));
test("ppoLoss() agrees with verl on the golden rows, gradients included", () => expectGoldenAgreement("ppo_loss"));
test("valueLoss() agrees with verl on the golden rows", () => expectGoldenAgreement("value_loss"));
test("adaptKlCoefficient() agrees with verl on the golden rows", () => expectGoldenAgreement("adaptive_kl"));
test("labelLogprob() and softmaxEntropy() agree with torch on the golden rows", () => expectGoldenAgreement("logits"));

describe("aggregateLoss()", () => {
  const losses = [[1, 2, 3], [4, 5, 6]];
  const mask = [[1, 1, 0], [1, 0, 0]];

  test("never looks at masked tokens", () => {
    expect(aggregateLoss([[1, 2, NaN], [4, NaN, Infinity]], mask, "token-mean")).toBeCloseTo(7 / 3, 12);
  });

  test("gives the whole batch's mean when parts know its counts and are averaged", () => {
    const part = (row: number) =>
      aggregateLoss([losses[row]], [mask[row]], "token-mean", { workers: 2, batchTokens: 3 });
    expect((part(0) + part(1)) / 2).toBeCloseTo(aggregateLoss(losses, mask, "token-mean"), 12);
  });

  test("leaves out sequences without an unmasked token", () => {
    expect(aggregateLoss([...losses, [9, 9, 9]], [...mask, [0, 0, 0]], "seq-mean-token-sum")).toBeCloseTo(3.5, 12);
  });

  test("is undefined where nothing is unmasked", () => {
    expect(aggregateLoss([[1]], [[0]], "token-mean")).toBeNaN();
    expect(aggregateLoss([[1]], [[0]], "token-sum")).toBe(0);
  });

  test("throws on matrices of different shape", () => {
    expect(() => aggregateLoss([[1, 2]], [[1]], "token-mean")).toThrow(RangeError);
  });
});

describe("klPenalty()", () => {
  test.each<KlEstimator>(["k1", "abs", "k2", "k3"])("%s has its own derivative as gradient", (estimator) => {
    for (const logprob of [-3, -0.4, -1.9]) {
      const { gradient } = klPenalty(logprob, -1, estimator);
      expect(gradient).toBeCloseTo(derivative((x) => klPenalty(x, -1, estimator).value, logprob), 5);
    }
  });

  test("of the policy itself is 0", () => {
    for (const estimator of ["k1", "abs", "k2", "k3", "k1+", "k3+"] as const) {
      expect(klPenalty(-2, -2, estimator).value).toBe(0);
    }
  });

  test("k3 is clamped at 10 without gradient, k3+ keeps its gradient", () => {
    expect(klPenalty(-9, -1, "k3")).toEqual({ value: 10, gradient: 0 });
    expect(klPenalty(-9, -1, "k3+")).toEqual({ value: 10, gradient: -8 });
  });
});

describe("ppoLoss()", () => {
  const options = { clipLow: 0.2, clipHigh: 0.28, dualClip: 3, aggregation: "token-mean" } as const;
  const loss = (logRatio: number, advantage: number) =>
    ppoLoss({ oldLogprobs: [[-1]], logprobs: [[-1 + logRatio]], advantages: [[advantage]], mask: [[1]] }, options);

  test("has the derivative of its loss as gradient, also where it is clipped", () => {
    for (const advantage of [0.7, -0.7]) {
      for (const logRatio of [-0.5, -0.1, 0, 0.1, 0.5, 1.5]) {
        expect(loss(logRatio, advantage).gradient[0][0]).toBeCloseTo(
          derivative((x) => loss(x, advantage).loss, logRatio),
          5,
        );
      }
    }
  });

  test("on the sampling policy is minus the advantage, nothing clipped", () => {
    expect(loss(0, 0.7)).toMatchObject({ loss: -0.7, gradient: [[-0.7]], clipFraction: 0, dualClipFraction: 0 });
  });

  test("bounds what one token with negative advantage can lose", () => {
    const { loss: value, gradient, dualClipFraction } = loss(2, -1);
    expect(value).toBeCloseTo(3, 12);
    expect(gradient).toEqual([[0]]);
    expect(dualClipFraction).toBeCloseTo(1, 6);
  });

  test("gives masked tokens no gradient", () => {
    const batch = { oldLogprobs: [[-1, -1]], logprobs: [[-1.1, -3]], advantages: [[1, 1]], mask: [[1, 0]] };
    expect(ppoLoss(batch, options).gradient[0][1]).toBeCloseTo(0, 15);
  });

  test("throws on a dual clip that is not above 1 and on differing shapes", () => {
    const batch = { oldLogprobs: [[-1]], logprobs: [[-1]], advantages: [[1]], mask: [[1]] };
    expect(() => ppoLoss(batch, { ...options, dualClip: 1 })).toThrow(RangeError);
    expect(() => ppoLoss({ ...batch, mask: [[1, 1]] }, options)).toThrow(/compute the PPO loss/);
  });
});

test("valueLoss() is pessimistic: clipping never makes it smaller", () => {
  const batch = { predictions: [[2, -1]], returns: [[1, 1]], oldValues: [[0, 0]], mask: [[1, 1]] };
  expect(valueLoss(batch, 0.5).loss).toBeGreaterThanOrEqual(valueLoss(batch, 1e9).loss);
  expect(valueLoss(batch, 1e9)).toEqual({ loss: 1.25, clipFraction: 0 });
});

test("adaptKlCoefficient() moves by at most 0.2 samples over horizon", () => {
  const settings = { target: 6, horizon: 100 };
  expect(adaptKlCoefficient(1, 6, 10, settings)).toBe(1);
  expect(adaptKlCoefficient(1, 1e9, 10, settings)).toBeCloseTo(1.02, 12);
  expect(adaptKlCoefficient(1, 0, 10, settings)).toBeCloseTo(0.98, 12);
});

test("logits of a thousand or minus infinity do not overflow", () => {
  expect(labelLogprob([1000, 1000], 0)).toBeCloseTo(-Math.LN2, 12);
  expect(softmaxEntropy(new Float64Array(8).fill(-1000))).toBeCloseTo(Math.log(8), 10);
  expect(logSumExp([-Infinity, 0])).toBe(0);
  expect(logSumExp([-Infinity])).toBe(-Infinity);
  expect(() => labelLogprob([1, 2], 2)).toThrow(RangeError);
});
