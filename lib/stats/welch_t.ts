import { mean, sampleVariance } from "./mean.ts";
import { tTest } from "./paired_t.ts";
import type { TTest } from "./paired_t.ts";

/** Standard error of a difference of two means, and the degrees of freedom that go with it. */
export interface DifferenceError {
  standardError: number;
  /** NaN if neither sample has any spread. */
  degreesOfFreedom: number;
}

/**
 * Welch's t-test: do two independent samples, of possibly different variance, have the same mean?
 *
 * @throws {RangeError} if a sample has fewer than two values
 */
export function welchT(first: readonly number[], second: readonly number[], confidence = 0.95): TTest {
  const { standardError, degreesOfFreedom } = welchError(first, second);
  // Without any spread the degrees are 0/0; any number gives the same t and p then.
  return tTest(
    mean(first) - mean(second),
    standardError,
    Number.isNaN(degreesOfFreedom) ? 1 : degreesOfFreedom,
    confidence,
  );
}

/**
 * Student's t-test: as {@link welchT}, for samples of equal variance.
 *
 * @throws {RangeError} if there are fewer than three values in all, or none in a sample
 */
export function studentT(first: readonly number[], second: readonly number[], confidence = 0.95): TTest {
  const degreesOfFreedom = first.length + second.length - 2;
  if (degreesOfFreedom < 1 || first.length === 0 || second.length === 0) {
    throw new RangeError(
      `Cannot compute a t-test of ${first.length} and ${second.length} values: need at least 3 in all`,
    );
  }
  const squares = (values: readonly number[]) => values.length < 2 ? 0 : sampleVariance(values) * (values.length - 1);
  const variance = (squares(first) + squares(second)) / degreesOfFreedom;
  const standardError = Math.sqrt(variance * (1 / first.length + 1 / second.length));
  return tTest(mean(first) - mean(second), standardError, degreesOfFreedom, confidence);
}

/**
 * Welch's standard error with Satterthwaite's degrees of freedom.
 *
 * @throws {RangeError} if a sample has fewer than two values
 */
export function welchError(first: readonly number[], second: readonly number[]): DifferenceError {
  if (first.length < 2 || second.length < 2) {
    throw new RangeError(
      `Cannot compare means of ${first.length} and ${second.length} values: need at least 2 of each`,
    );
  }
  const a = sampleVariance(first) / first.length;
  const b = sampleVariance(second) / second.length;
  return {
    standardError: Math.sqrt(a + b),
    degreesOfFreedom: (a + b) ** 2 / (a ** 2 / (first.length - 1) + b ** 2 / (second.length - 1)),
  };
}
