import { incompleteBeta } from "./incomplete_beta.ts";

/**
 * P(X > x) for an F distribution, the p-value of an analysis of variance; 1 below 0, NaN for NaN.
 *
 * @throws {RangeError} if the degrees of freedom are not positive
 */
export function fSf(x: number, numeratorDegrees: number, denominatorDegrees: number): number {
  if (Number.isNaN(x)) return NaN;
  const ratio = numeratorDegrees * Math.max(0, x) / denominatorDegrees;
  return incompleteBeta(denominatorDegrees / 2, numeratorDegrees / 2, 1 / (1 + ratio), 1 / (1 + 1 / ratio));
}
