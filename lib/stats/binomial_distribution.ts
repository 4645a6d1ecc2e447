import { betaKernel, incompleteBeta } from "./incomplete_beta.ts";

/**
 * P(X = successes) for X ~ Binomial(trials, p); 0 outside the support.
 *
 * @param trials whole number ≥ 0
 * @param p in [0, 1]
 */
export function binomialProbability(successes: number, trials: number, p: number): number {
  if (!Number.isInteger(successes) || successes < 0 || successes > trials) return 0;
  if (successes === 0) return Math.exp(trials * Math.log1p(-p)) || (trials === 0 ? 1 : 0);
  if (successes === trials) return p ** trials;
  if (p === 0 || p === 1) return 0;
  const failures = trials - successes;
  return betaKernel(successes, failures, p, 1 - p) * trials / successes / failures;
}

/** P(X ≤ successes) for X ~ Binomial(trials, p). */
export function binomialCdf(successes: number, trials: number, p: number): number {
  const whole = Math.floor(successes);
  if (whole < 0) return 0;
  if (whole >= trials) return 1;
  return incompleteBeta(trials - whole, whole + 1, 1 - p, p);
}
