import { expect, test } from "vitest";
import { holm, holmSidak } from "../../lib/stats/holm.ts";
import { benjaminiHochberg, bonferroni, hommel } from "../../lib/stats/multiple_testing.ts";
import { expectGoldenAgreement } from "../golden/agreement.ts";

test("holm() and the other adjustments agree with statsmodels on the golden rows", () =>
  expectGoldenAgreement("multiple"));

const P = [0.01, 0.04, 0.03, 0.005, 1, 0];

test("holm() keeps the order of the p-values and lies between the p-value and Bonferroni's", () => {
  const adjusted = holm(P);
  for (const [index, value] of adjusted.entries()) {
    expect(value).toBeGreaterThanOrEqual(P[index]);
    expect(value).toBeLessThanOrEqual(bonferroni(P)[index]);
    expect(hommel(P)[index]).toBeLessThanOrEqual(value);
    expect(benjaminiHochberg(P)[index]).toBeLessThanOrEqual(value);
    expect(holmSidak(P)[index]).toBeLessThanOrEqual(value);
  }
  expect(adjusted[0]).toBeGreaterThan(adjusted[3]);
});

test("holm() does not change a single p-value", () => expect(holm([0.03])).toEqual([0.03]));

test("adjustments throw on a number that is no probability", () => {
  for (const adjust of [holm, holmSidak, bonferroni, benjaminiHochberg, hommel]) {
    expect(() => adjust([0.5, 1.5])).toThrow(/1\.5/);
    expect(() => adjust([NaN])).toThrow(RangeError);
  }
});
