import { mean, sampleVariance } from "./mean.ts";
import { tQuantile, tTwoSided } from "./t_distribution.ts";

/** A t-test of a difference of means. */
export interface TTest {
  /** Mean of the first sample minus mean of the second. */
  difference: number;
  standardError: number;
  /** ±∞ for a constant difference other than 0, NaN for a constant 0. */
  t: number;
  degreesOfFreedom: number;
  /** Two-sided. */
  p: number;
  /** Ends of the interval of the difference. */
  low: number;
  high: number;
}

/**
 * Paired t-test: is the mean of `first[i] − second[i]` zero?
 *
 * @throws {RangeError} if the samples differ in length or have fewer than two pairs
 */
export function pairedT(first: readonly number[], second: readonly number[], confidence = 0.95): TTest {
  const differences = pairedDifferences(first, second);
  if (differences.length < 2) {
    throw new RangeError(`Cannot compute a paired t-test of ${differences.length} pairs: need at least 2`);
  }
  const standardError = Math.sqrt(sampleVariance(differences) / differences.length);
  return tTest(mean(differences), standardError, differences.length - 1, confidence);
}

/** `first[i] − second[i]`. @throws {RangeError} if the samples differ in length */
export function pairedDifferences(first: readonly number[], second: readonly number[]): number[] {
  if (first.length !== second.length) {
    throw new RangeError(`Cannot pair ${first.length} values with ${second.length}: need as many of each`);
  }
  return first.map((value, index) => value - second[index]);
}

/** A t-test from a difference, its standard error and degrees of freedom. */
export function tTest(difference: number, standardError: number, degreesOfFreedom: number, confidence: number): TTest {
  const t = difference / standardError;
  const half = tQuantile((1 + confidence) / 2, degreesOfFreedom) * standardError;
  return {
    difference,
    standardError,
    t,
    degreesOfFreedom,
    p: tTwoSided(t, degreesOfFreedom),
    low: difference - half,
    high: difference + half,
  };
}
