import { describe, expect, test } from "vitest";
import { betaCdf, betaQuantile, betaQuantilePoint } from "../../lib/stats/beta_distribution.ts";
import { binomialCdf, binomialProbability } from "../../lib/stats/binomial_distribution.ts";
import { incompleteBeta } from "../../lib/stats/incomplete_beta.ts";
import { lowerGamma, upperGamma } from "../../lib/stats/incomplete_gamma.ts";
import { deviance, logGamma, stirlingError } from "../../lib/stats/log_gamma.ts";
import { normalCdf, normalQuantile, normalSf } from "../../lib/stats/normal_distribution.ts";
import { tCdf, tQuantile, tTwoSided } from "../../lib/stats/t_distribution.ts";
import { expectGoldenAgreement } from "../golden/agreement.ts";

describe("agrees with scipy on the golden rows", () => {
  test.each(["norm", "t", "beta", "binom", "chi2", "f"])(
    "scipy.stats.%s",
    (name) => expectGoldenAgreement("dist", ({ args }) => args.name === name),
  );
  test.each(["gammaln", "erf", "erfc", "gammainc"])(
    "scipy.special.%s",
    (name) => expectGoldenAgreement("special", ({ args }) => args.name === name),
  );
});

test("normalQuantile() inverts normalCdf() from the far tail to the middle", () => {
  for (const p of [1e-300, 1e-12, 0.025, 0.3, 0.5, 0.9, 0.999999]) {
    expect(normalCdf(normalQuantile(p)) / p).toBeCloseTo(1, 10);
  }
  expect([normalQuantile(0), normalQuantile(1)]).toEqual([-Infinity, Infinity]);
});

test("normalSf() keeps its digits where 1 − normalCdf() has none", () => {
  expect(normalSf(20) / 2.7536241186062337e-89).toBeCloseTo(1, 12);
  expect(normalCdf(NaN)).toBeNaN();
});

test("tQuantile() inverts tCdf() for few, many and fractional degrees of freedom", () => {
  for (const degrees of [0.5, 1, 2, 13.37, 1e6]) {
    for (const p of [1e-10, 0.025, 0.49, 0.5, 0.975]) {
      expect(tCdf(tQuantile(p, degrees), degrees) / p).toBeCloseTo(1, 9);
    }
  }
});

test("tCdf() with one degree of freedom is Cauchy's, with many the normal one", () => {
  expect(tCdf(1, 1)).toBeCloseTo(0.75, 14);
  expect(tCdf(-1.96, 1e12)).toBeCloseTo(normalCdf(-1.96), 10);
  expect(tTwoSided(Infinity, 3)).toBe(0);
  expect(tCdf(1e200, 2)).toBe(1);
  expect(tTwoSided(NaN, 3)).toBeNaN();
});

test("betaQuantile() inverts betaCdf() and is the mirror image of its complement", () => {
  for (const [a, b] of [[0.5, 0.5], [134.5, 6.5], [1e5, 1e5], [30, 1]]) {
    for (const p of [1e-10, 0.025, 0.5, 0.975]) {
      expect(betaCdf(betaQuantile(p, a, b), a, b) / p).toBeCloseTo(1, 9);
      expect(betaQuantilePoint(p, 1 - p, a, b).y).toBeCloseTo(betaQuantilePoint(1 - p, p, b, a).x, 12);
    }
  }
  expect([betaQuantile(0, 2, 3), betaQuantile(1, 2, 3)]).toEqual([0, 1]);
});

test("incompleteBeta() and the incomplete gamma functions add up to 1 with their complements", () => {
  for (const x of [0.01, 0.4, 0.99]) {
    expect(incompleteBeta(2.5, 7, x) + incompleteBeta(7, 2.5, 1 - x)).toBeCloseTo(1, 14);
  }
  for (const x of [0.1, 5, 80]) expect(lowerGamma(7, x) + upperGamma(7, x)).toBeCloseTo(1, 14);
});

test("binomialCdf() is the sum of binomialProbability()", () => {
  let sum = 0;
  for (let k = 0; k <= 12; k++) {
    sum += binomialProbability(k, 12, 0.3);
    expect(binomialCdf(k, 12, 0.3)).toBeCloseTo(sum, 13);
  }
  expect(sum).toBeCloseTo(1, 13);
  expect([binomialCdf(-1, 12, 0.3), binomialProbability(0.5, 12, 0.3), binomialProbability(0, 0, 1)]).toEqual([
    0,
    0,
    1,
  ]);
});

test("logGamma() satisfies its recurrence, stirlingError() and deviance() do not cancel", () => {
  for (const x of [0.001, 0.5, 3.3, 9.99, 1e6]) expect(logGamma(x + 1) - logGamma(x)).toBeCloseTo(Math.log(x), 8);
  expect(logGamma(11)).toBeCloseTo(Math.log(3628800), 13);
  expect(stirlingError(1e8) * 12e8).toBeCloseTo(1, 12);
  // x·log(x/m) + m − x ≈ (x − m)² / 2m
  expect(deviance(1e8 + 1, 1e8) * 2e8).toBeCloseTo(1, 7);
});

test("distributions throw a RangeError outside their domain", () => {
  for (
    const call of [
      () => logGamma(0),
      () => normalQuantile(1.1),
      () => tQuantile(-0.1, 3),
      () => tCdf(1, 0),
      () => betaQuantile(NaN, 1, 1),
    ]
  ) {
    expect(call).toThrow(RangeError);
  }
  expect(() => incompleteBeta(0, 1, 0.5)).toThrow(RangeError);
  expect(() => lowerGamma(1, -1)).toThrow(RangeError);
});
