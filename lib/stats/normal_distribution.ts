import { erfc } from "./error_function.ts";

/** Density of the standard normal distribution. */
export function normalDensity(z: number): number {
  return Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
}

/** P(Z ≤ z) for a standard normal Z; NaN for NaN. */
export function normalCdf(z: number): number {
  return Number.isNaN(z) ? NaN : erfc(-z / Math.SQRT2) / 2;
}

/** P(Z > z) for a standard normal Z, without cancellation where it is small. */
export function normalSf(z: number): number {
  return normalCdf(-z);
}

/**
 * The z with P(Z ≤ z) = p for a standard normal Z; ∓∞ at 0 and 1.
 *
 * @throws {RangeError} if p is not in [0, 1]
 */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) {
    throw new RangeError(`Cannot compute a normal quantile at p = ${p}: need a probability in [0, 1]`);
  }
  if (p === 0.5) return 0;
  return p < 0.5 ? lowerQuantile(p) : -lowerQuantile(1 - p);
}

/** Newton's method for log P = log p: concave, so from a start below the root it rises to it without overshooting. */
function lowerQuantile(p: number): number {
  if (p === 0) return -Infinity;
  let z = -Math.sqrt(-2 * Math.log(p));
  for (let iteration = 0; iteration < 50; iteration++) {
    const cdf = normalCdf(z);
    const next = z - Math.log(cdf / p) * cdf / normalDensity(z);
    if (Math.abs(next - z) <= 1e-16 * Math.abs(z)) return next;
    z = next;
  }
  return z;
}
