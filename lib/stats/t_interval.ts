import { mean, sampleVariance } from "./mean.ts";
import { tQuantile } from "./t_distribution.ts";

/** A mean over seeds with its interval. */
export interface MeanInterval {
  mean: number;
  /** s/√n; null for one value. */
  standardError: number | null;
  degreesOfFreedom: number;
  /** Null where there is no interval: one value, or no spread. */
  low: number | null;
  high: number | null;
}

/**
 * Mean ± t·s/√n, the interval for a mean over few seeds (3 to 10), where a percentile bootstrap covers far too little.
 *
 * One value has no interval. Nor have values without any spread: that a quantised score came out equal three times does
 * not make it exact.
 *
 * @param values one for each seed
 * @throws {RangeError} if there are no values
 */
export function tInterval(values: readonly number[], confidence = 0.95): MeanInterval {
  if (values.length === 0) throw new RangeError("Cannot average over no values");
  const degreesOfFreedom = values.length - 1;
  // Asked of the values, not of their variance, which rounding may leave just above 0.
  if (values.every((value) => value === values[0])) {
    const standardError = degreesOfFreedom === 0 ? null : 0;
    return { mean: values[0], standardError, degreesOfFreedom, low: null, high: null };
  }
  const centre = mean(values);
  const standardError = Math.sqrt(sampleVariance(values) / values.length);
  const half = tQuantile((1 + confidence) / 2, degreesOfFreedom) * standardError;
  return { mean: centre, standardError, degreesOfFreedom, low: centre - half, high: centre + half };
}
