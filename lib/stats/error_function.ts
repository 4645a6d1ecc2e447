import { lowerGamma, upperGamma } from "./incomplete_gamma.ts";

/** Error function, 2/√π·∫₀ˣ e^(−t²) dt. */
export function erf(x: number): number {
  return Math.sign(x) * lowerGamma(0.5, x * x);
}

/** Complementary error function 1 − erf(x), without cancellation where it is small. */
export function erfc(x: number): number {
  return x < 0 ? 1 + lowerGamma(0.5, x * x) : upperGamma(0.5, x * x);
}
