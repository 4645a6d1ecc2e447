import { betaQuantilePoint } from "./beta_distribution.ts";
import { incompleteBeta } from "./incomplete_beta.ts";
import { normalQuantile, normalSf } from "./normal_distribution.ts";

/** Beyond this the normal distribution is nearer than the digits that the beta function loses. */
const MANY_DEGREES = 1e8;

/**
 * P(T ≤ t) for Student's t with `degreesOfFreedom` (any positive number); NaN for a NaN t.
 *
 * Good to 10 digits up to a million degrees of freedom, to about 8 beyond.
 *
 * @throws {RangeError} if the degrees of freedom are not positive
 */
export function tCdf(t: number, degreesOfFreedom: number): number {
  requireDegrees(degreesOfFreedom);
  if (Number.isNaN(t)) return NaN;
  return t < 0 ? tail(-t, degreesOfFreedom) : 1 - tail(t, degreesOfFreedom);
}

/** P(T > t); see {@link tCdf}. */
export function tSf(t: number, degreesOfFreedom: number): number {
  return tCdf(-t, degreesOfFreedom);
}

/** P(|T| > |t|), the two-sided p-value; see {@link tCdf}. */
export function tTwoSided(t: number, degreesOfFreedom: number): number {
  return 2 * tCdf(-Math.abs(t), degreesOfFreedom);
}

/**
 * The t with P(T ≤ t) = p; ∓∞ at 0 and 1.
 *
 * @throws {RangeError} unless p is in [0, 1] and the degrees of freedom are positive
 */
export function tQuantile(p: number, degreesOfFreedom: number): number {
  requireDegrees(degreesOfFreedom);
  if (!(p >= 0 && p <= 1)) {
    throw new RangeError(`Cannot compute a t quantile at p = ${p}: need a probability in [0, 1]`);
  }
  if (p === 0.5) return 0;
  if (degreesOfFreedom > MANY_DEGREES) return normalQuantile(p);
  const twoSided = 2 * Math.min(p, 1 - p);
  const { x, y } = betaQuantilePoint(twoSided, 1 - twoSided, degreesOfFreedom / 2, 0.5);
  const magnitude = Math.sqrt(degreesOfFreedom * (y / x));
  return p < 0.5 ? -magnitude : magnitude;
}

/** P(T > t) for t ≥ 0; x and y are written so that a large t² does not overflow. */
function tail(t: number, degreesOfFreedom: number): number {
  if (degreesOfFreedom > MANY_DEGREES) return normalSf(t);
  const ratio = t * t / degreesOfFreedom;
  return incompleteBeta(degreesOfFreedom / 2, 0.5, 1 / (1 + ratio), 1 / (1 + 1 / ratio)) / 2;
}

function requireDegrees(degreesOfFreedom: number): void {
  if (!(degreesOfFreedom > 0)) {
    throw new RangeError(`Cannot use a t distribution with ${degreesOfFreedom} degrees of freedom: need more than 0`);
  }
}
