import { mean, sampleVariance } from "./mean.ts";
import { pairedDifferences } from "./paired_t.ts";
import { tCdf, tQuantile, tSf } from "./t_distribution.ts";
import { welchError } from "./welch_t.ts";

/** Bounds within which a difference counts as none; declared before the data are seen. */
export interface EquivalenceMargin {
  low: number;
  high: number;
}

/** Two one-sided tests. */
export interface Tost {
  difference: number;
  degreesOfFreedom: number;
  /** The larger of both one-sided p-values: below α, the difference lies within the margin. */
  p: number;
  /** Against "the difference is at or below the lower bound". */
  lower: { t: number; p: number };
  /** Against "the difference is at or above the upper bound". */
  upper: { t: number; p: number };
  /** The 90 % interval of the difference; inside the margin exactly if p < 0.05. */
  interval: EquivalenceMargin;
}

/**
 * Equivalence of two independent means (Schuirmann 1987), with Welch's standard error.
 *
 * Without any spread the degrees of freedom are undefined, and so are the p-values (NaN).
 *
 * @throws {RangeError} if a sample has fewer than two values or the margin is empty
 */
export function welchTost(first: readonly number[], second: readonly number[], margin: EquivalenceMargin): Tost {
  const { standardError, degreesOfFreedom } = welchError(first, second);
  return tost(mean(first) - mean(second), standardError, degreesOfFreedom, margin);
}

/**
 * Equivalence of paired means.
 *
 * @throws {RangeError} if the samples differ in length, have fewer than two pairs, or the margin is empty
 */
export function pairedTost(first: readonly number[], second: readonly number[], margin: EquivalenceMargin): Tost {
  const differences = pairedDifferences(first, second);
  if (differences.length < 2) {
    throw new RangeError(`Cannot test equivalence of ${differences.length} pairs: need at least 2`);
  }
  const standardError = Math.sqrt(sampleVariance(differences) / differences.length);
  return tost(mean(differences), standardError, differences.length - 1, margin);
}

function tost(difference: number, standardError: number, degreesOfFreedom: number, margin: EquivalenceMargin): Tost {
  if (!(margin.low < margin.high)) {
    throw new RangeError(`Cannot test equivalence within [${margin.low}, ${margin.high}]: the margin is empty`);
  }
  const isDefined = !Number.isNaN(degreesOfFreedom);
  const lower = (difference - margin.low) / standardError;
  const upper = (difference - margin.high) / standardError;
  const lowerP = isDefined ? tSf(lower, degreesOfFreedom) : NaN;
  const upperP = isDefined ? tCdf(upper, degreesOfFreedom) : NaN;
  const half = standardError === 0 ? 0 : tQuantile(0.95, degreesOfFreedom) * standardError;
  return {
    difference,
    degreesOfFreedom,
    p: Math.max(lowerP, upperP),
    lower: { t: lower, p: lowerP },
    upper: { t: upper, p: upperP },
    interval: { low: difference - half, high: difference + half },
  };
}
