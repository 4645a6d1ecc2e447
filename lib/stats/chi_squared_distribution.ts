import { upperGamma } from "./incomplete_gamma.ts";

/** P(X > x) for a chi-squared X; 1 below 0. @throws {RangeError} if the degrees of freedom are not positive */
export function chiSquaredSf(x: number, degreesOfFreedom: number): number {
  return Number.isNaN(x) ? NaN : upperGamma(degreesOfFreedom / 2, Math.max(0, x) / 2);
}
