import { betaQuantile } from "./beta_distribution.ts";
import { normalQuantile } from "./normal_distribution.ts";
import { requireSuccesses, requireTrials } from "./wilson_interval.ts";
import type { Interval } from "./wilson_interval.ts";

/**
 * Clopper–Pearson interval: never covers less than `confidence`, usually more.
 *
 * @throws {RangeError} as `wilsonInterval`
 */
export function clopperPearsonInterval(successes: number, trials: number, confidence = 0.95): Interval {
  requireTrials(trials);
  requireSuccesses(successes, trials);
  const failures = trials - successes;
  const tail = (1 - confidence) / 2;
  return {
    low: successes === 0 ? 0 : betaQuantile(tail, successes, failures + 1),
    high: failures === 0 ? 1 : 1 - betaQuantile(tail, failures, successes + 1),
  };
}

/**
 * Equal-tailed posterior interval under Jeffreys' prior Beta(½, ½); with no trials that of the prior.
 *
 * @throws {RangeError} if `successes` is not a whole number in [0, trials]
 */
export function jeffreysInterval(successes: number, trials: number, confidence = 0.95): Interval {
  requireSuccesses(successes, trials);
  const failures = trials - successes;
  const tail = (1 - confidence) / 2;
  return {
    low: betaQuantile(tail, successes + 0.5, failures + 0.5),
    high: 1 - betaQuantile(tail, failures + 0.5, successes + 0.5),
  };
}

/**
 * Agresti–Coull interval: the normal one with z²/2 successes and failures added, cut to [0, 1].
 *
 * @throws {RangeError} if `successes` is not a whole number in [0, trials]
 */
export function agrestiCoullInterval(successes: number, trials: number, confidence = 0.95): Interval {
  requireSuccesses(successes, trials);
  const z = normalQuantile(1 - (1 - confidence) / 2);
  return normalInterval(successes + z * z / 2, trials + z * z, z);
}

/**
 * The textbook interval p ± z·√(p(1−p)/n), cut to [0, 1]; for comparison only, it is far too narrow for small n.
 *
 * @throws {RangeError} as `wilsonInterval`
 */
export function waldInterval(successes: number, trials: number, confidence = 0.95): Interval {
  requireTrials(trials);
  requireSuccesses(successes, trials);
  return normalInterval(successes, trials, normalQuantile(1 - (1 - confidence) / 2));
}

function normalInterval(successes: number, trials: number, z: number): Interval {
  const share = successes / trials;
  const half = z * Math.sqrt(share * (1 - share) / trials);
  return { low: Math.max(0, share - half), high: Math.min(1, share + half) };
}
