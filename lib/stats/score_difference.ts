import { normalSf } from "./normal_distribution.ts";
import { findRoot } from "./root.ts";
import { share, waldDifference } from "./two_proportions.ts";
import type { Count } from "./two_proportions.ts";
import type { Interval } from "./wilson_interval.ts";

/** How the score interval is computed. */
export interface ScoreDifferenceOptions {
  confidence?: number;
  /**
   * `miettinen-nurminen`: the published method. `statsmodels`: what statsmodels 0.15.0 returns, for comparison with it;
   * its cubic has the successes of the second arm where the trials belong, and it fails where Wald's interval, from
   * which it starts, is too far off.
   */
  variant?: "miettinen-nurminen" | "statsmodels";
}

/** Shares of both arms under a given difference, from which the variance of the estimate is taken. */
type Constrained = (first: Count, second: Count, difference: number) => [number, number];

/**
 * Miettinen and Nurminen's score interval (1985): the differences that their test does not reject.
 *
 * @throws {RangeError} on invalid counts; as variant `statsmodels` also for few trials or shares near 0 or 1
 */
export function scoreDifference(first: Count, second: Count, options: ScoreDifferenceOptions = {}): Interval {
  const { confidence = 0.95, variant = "miettinen-nurminen" } = options;
  const estimate = share(first) - share(second);
  if (variant === "statsmodels") {
    const wald = waldDifference(first, second, confidence);
    const excess = (difference: number) => scoreP(first, second, difference, statsmodelsShares) - (1 - confidence);
    return {
      low: findRoot(excess, wald.low - Math.abs(wald.low) * 0.25, estimate),
      high: findRoot(excess, estimate, Math.min(0.99999, wald.high + Math.abs(wald.high) * 0.5)),
    };
  }
  // The estimate itself is never rejected, also where its variance is 0.
  const excess = (difference: number) =>
    (difference === estimate ? 1 : scoreP(first, second, difference, likeliestShares)) - (1 - confidence);
  return {
    low: estimate === -1 ? -1 : findRoot(excess, -1, estimate),
    high: estimate === 1 ? 1 : findRoot(excess, estimate, 1),
  };
}

/** Two-sided p of a difference, with the variance under it times N/(N−1). */
function scoreP(first: Count, second: Count, difference: number, constrained: Constrained): number {
  const n = first.trials + second.trials;
  const [p, q] = constrained(first, second, difference);
  const variance = (p * (1 - p) / first.trials + q * (1 - q) / second.trials) * n / (n - 1);
  return 2 * normalSf(Math.abs(share(first) - share(second) - difference) / Math.sqrt(variance));
}

/** Maximum likelihood, by halving: the likelihood is concave in the share. The closed form loses digits at the borders. */
function likeliestShares(first: Count, second: Count, difference: number): [number, number] {
  let low = Math.max(0, -difference);
  let high = Math.min(1, 1 - difference);
  for (let iteration = 0; iteration < 60; iteration++) {
    const middle = (low + high) / 2;
    if (scoreOf(first, middle + difference) + scoreOf(second, middle) > 0) low = middle;
    else high = middle;
  }
  const q = (low + high) / 2;
  return [Math.max(0, Math.min(1, q + difference)), q];
}

/** Derivative of a count's log-likelihood with respect to its share. */
function scoreOf({ successes, trials }: Count, p: number): number {
  const failures = trials - successes;
  return (successes === 0 ? 0 : successes / p) - (failures === 0 ? 0 : failures / (1 - p));
}

/** The closed form (Miettinen and Nurminen 1985, appendix I) as statsmodels has it; see {@link ScoreDifferenceOptions}. */
function statsmodelsShares(first: Count, second: Count, difference: number): [number, number] {
  const n = first.trials + second.trials;
  const successes = first.successes + second.successes;
  if (difference === 0) return [successes / n, successes / n];
  const l2 = (first.trials + 2 * second.trials) * difference - n - successes;
  const l1 = (second.successes * difference - n - 2 * second.successes) * difference + successes;
  const l0 = second.successes * difference * (1 - difference);
  const q = l2 ** 3 / (3 * n) ** 3 - l1 * l2 / (6 * n ** 2) + l0 / (2 * n);
  const p = Math.sign(q) * Math.sqrt(l2 ** 2 / (3 * n) ** 2 - l1 / (3 * n));
  const q0 = 2 * p * Math.cos((Math.PI + Math.acos(q / p ** 3)) / 3) - l2 / (3 * n);
  return [q0 + difference, q0];
}
