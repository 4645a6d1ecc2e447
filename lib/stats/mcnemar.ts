import { binomialCdf, binomialProbability } from "./binomial_distribution.ts";
import { chiSquaredSf } from "./chi_squared_distribution.ts";

/** A chi-squared test. */
export interface ChiSquaredTest {
  statistic: number;
  p: number;
}

/**
 * McNemar's exact test: two arms on the same items, of which only the discordant ones tell anything.
 *
 * With all of them one way it takes 6 for p < 0.05.
 *
 * @param firstOnly items that only the first arm solved
 * @param secondOnly items that only the second arm solved
 * @returns two-sided p
 */
export function mcnemarExact(firstOnly: number, secondOnly: number): number {
  const [fewer, discordant] = discordantCounts(firstOnly, secondOnly);
  return Math.min(1, 2 * binomialCdf(fewer, discordant, 0.5));
}

/**
 * McNemar's mid-p test: the exact one less the probability of the observed table, because that one is conservative.
 *
 * @param tie for equal counts: `double` is 2·P(X ≤ k) − P(X = k) as elsewhere, which gives 1; `fagerland` is
 * 1 − P(X = k)/2 (Fagerland, Lydersen and Laake 2013)
 */
export function mcnemarMidP(firstOnly: number, secondOnly: number, tie: "double" | "fagerland" = "fagerland"): number {
  const [fewer, discordant] = discordantCounts(firstOnly, secondOnly);
  const probability = binomialProbability(fewer, discordant, 0.5);
  if (tie === "fagerland" && firstOnly === secondOnly) return 1 - probability / 2;
  return 2 * binomialCdf(fewer, discordant, 0.5) - probability;
}

/**
 * McNemar's asymptotic test, for many discordant items; without any it is undefined (NaN, or ∞ with the correction, as
 * in statsmodels).
 *
 * @param continuity subtract 1 from the difference of counts (Edwards)
 */
export function mcnemarChiSquared(firstOnly: number, secondOnly: number, continuity = true): ChiSquaredTest {
  const [, discordant] = discordantCounts(firstOnly, secondOnly);
  const statistic = (Math.abs(firstOnly - secondOnly) - (continuity ? 1 : 0)) ** 2 / discordant;
  return { statistic, p: chiSquaredSf(statistic, 1) };
}

function discordantCounts(firstOnly: number, secondOnly: number): [fewer: number, discordant: number] {
  for (const count of [firstOnly, secondOnly]) {
    if (!Number.isInteger(count) || count < 0) {
      throw new RangeError(`Cannot test ${count} discordant items: need a whole number of at least 0`);
    }
  }
  return [Math.min(firstOnly, secondOnly), firstOnly + secondOnly];
}
