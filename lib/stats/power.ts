import { normalCdf, normalQuantile, normalSf } from "./normal_distribution.ts";
import { findRoot } from "./root.ts";

/** A planned comparison of two proportions. */
export interface TwoProportionDesign {
  /** Trials of the first and the second arm. */
  trials: readonly [number, number];
  /** Two-sided level; default 0.05. */
  alpha?: number;
}

/** Cohen's h, 2·asin√p₁ − 2·asin√p₂: a difference of proportions on a scale of equal variance. */
export function cohenH(first: number, second: number): number {
  return 2 * Math.asin(Math.sqrt(first)) - 2 * Math.asin(Math.sqrt(second));
}

/**
 * Chance that a two-sided z-test finds the difference between two proportions; variance pooled under the null
 * hypothesis, not pooled otherwise (statsmodels power_proportions_2indep).
 */
export function twoProportionPower(
  first: number,
  second: number,
  { trials: [n, m], alpha = 0.05 }: TwoProportionDesign,
): number {
  const ratio = m / n;
  const pooled = (first + second * ratio) / (1 + ratio);
  const deviation = (p: number, q: number) => Math.sqrt(p * (1 - p) + q * (1 - q) / ratio);
  const alternative = deviation(first, second);
  const critical = normalQuantile(1 - alpha / 2) * deviation(pooled, pooled) / alternative;
  const shift = (first - second) * Math.sqrt(n) / alternative;
  return normalSf(critical - shift) + normalCdf(-critical - shift);
}

/** The same by {@link cohenH} (statsmodels NormalIndPower). */
export function cohenHPower(h: number, { trials: [n, m], alpha = 0.05 }: TwoProportionDesign): number {
  const critical = normalQuantile(1 - alpha / 2);
  const shift = h * Math.sqrt(1 / (1 / n + 1 / m));
  return normalSf(critical - shift) + normalCdf(-critical - shift);
}

/**
 * Smallest rise above a baseline proportion that is found with the given power, or null if even 1 is not.
 *
 * @param baseline in [0, 1)
 */
export function minimumDetectableRise(baseline: number, power: number, design: TwoProportionDesign): number | null {
  const largest = 1 - baseline - 1e-9;
  const excess = (rise: number) => twoProportionPower(baseline + rise, baseline, design) - power;
  return largest > 1e-9 && excess(largest) > 0 ? findRoot(excess, 1e-9, largest) : null;
}

/** Smallest Cohen's h that is found with the given power. */
export function minimumDetectableH(power: number, design: TwoProportionDesign): number {
  return findRoot((h) => cohenHPower(h, design) - power, 0, 100);
}

/** The rise above a baseline that Cohen's h amounts to, or null if that is beyond 1. */
export function riseOfH(baseline: number, h: number): number | null {
  const angle = 2 * Math.asin(Math.sqrt(baseline)) + h;
  return angle <= Math.PI ? Math.sin(angle / 2) ** 2 - baseline : null;
}

/** The rule of thumb (z_{1−α/2} + z_power)·√(p(1−p)(1/n + 1/m)). */
export function approximateDetectableRise(
  baseline: number,
  power: number,
  { trials: [n, m], alpha = 0.05 }: TwoProportionDesign,
): number {
  const z = normalQuantile(1 - alpha / 2) + normalQuantile(power);
  return z * Math.sqrt(baseline * (1 - baseline) * (1 / n + 1 / m));
}
