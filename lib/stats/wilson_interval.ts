/** A two-sided interval. */
export interface Interval {
  low: number;
  high: number;
}

/**
 * Wilson score interval for `successes` out of `trials`; both ends are in [0, 1].
 *
 * Keeps its coverage for small n and for proportions near 0 or 1, where the normal approximation does not (Wilson 1927;
 * Brown, Cai and DasGupta 2001).
 *
 * @param successes whole number in [0, trials]
 * @param trials whole number ≥ 1
 * @param z normal quantile; 1.96 gives 95 %
 * @throws {RangeError} if `successes` or `trials` is not a whole number in range
 */
export function wilsonInterval(successes: number, trials: number, z = 1.959963984540054): Interval {
  requireTrials(trials);
  requireSuccesses(successes, trials);
  const share = successes / trials;
  const inflation = 1 + z * z / trials;
  const centre = (share + z * z / (2 * trials)) / inflation;
  const half = z * Math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2) / inflation;
  // At the borders the end is exactly 0 or 1; rounding would miss it.
  return { low: successes === 0 ? 0 : centre - half, high: successes === trials ? 1 : centre + half };
}

/** Guards a number of trials. @throws {RangeError} unless `trials` is a whole number of at least 1 */
export function requireTrials(trials: number): void {
  if (!Number.isInteger(trials) || trials < 1) {
    throw new RangeError(`Cannot compute an interval for ${trials} trials: need a whole number of at least 1`);
  }
}

/** Guards a number of successes. @throws {RangeError} unless `successes` is a whole number in [0, trials] */
export function requireSuccesses(successes: number, trials: number): void {
  if (!Number.isInteger(successes) || successes < 0 || successes > trials) {
    throw new RangeError(
      `Cannot count ${successes} successes in ${trials} trials: need a whole number from 0 to the trials`,
    );
  }
}
