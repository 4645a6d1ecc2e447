import { binomialProbability } from "./binomial_distribution.ts";
import { normalQuantile, normalSf } from "./normal_distribution.ts";
import { requireSuccesses, requireTrials, wilsonInterval } from "./wilson_interval.ts";
import type { Interval } from "./wilson_interval.ts";

/** Successes of an arm. */
export interface Count {
  successes: number;
  trials: number;
}

/** Two-sided z-test of equal proportions, pooled variance; NaN if all succeed or none. @throws {RangeError} on invalid counts */
export function twoProportionZ(first: Count, second: Count): { z: number; p: number } {
  const pooled = (first.successes + second.successes) / (first.trials + second.trials);
  const variance = pooled * (1 - pooled) * (1 / first.trials + 1 / second.trials);
  const z = (share(first) - share(second)) / Math.sqrt(variance);
  return { z, p: 2 * normalSf(Math.abs(z)) };
}

/** Wald interval of a difference of proportions. @throws {RangeError} on invalid counts */
export function waldDifference(first: Count, second: Count, confidence = 0.95): Interval {
  const p = share(first);
  const q = share(second);
  const half = zOf(confidence) * Math.sqrt(p * (1 - p) / first.trials + q * (1 - q) / second.trials);
  return { low: p - q - half, high: p - q + half };
}

/** Agresti–Caffo interval: Wald's with one success and one failure added to each arm. @throws {RangeError} on invalid counts */
export function agrestiCaffoDifference(first: Count, second: Count, confidence = 0.95): Interval {
  const padded = ({ successes, trials }: Count) => ({ successes: successes + 1, trials: trials + 2 });
  return waldDifference(padded(first), padded(second), confidence);
}

/** Newcombe's interval from two Wilson intervals: good for small counts. @throws {RangeError} on invalid counts */
export function newcombeDifference(first: Count, second: Count, confidence = 0.95): Interval {
  const p = share(first);
  const q = share(second);
  const a = wilsonInterval(first.successes, first.trials, zOf(confidence));
  const b = wilsonInterval(second.successes, second.trials, zOf(confidence));
  return {
    low: p - q - Math.hypot(p - a.low, b.high - q),
    high: p - q + Math.hypot(q - b.low, a.high - p),
  };
}

/** Fisher's exact test, two-sided: all tables with these margins that are no more probable than the observed one. */
export function fisherExact(first: Count, second: Count): number {
  share(first);
  share(second);
  const successes = first.successes + second.successes;
  const pooled = successes / (first.trials + second.trials);
  // A hypergeometric probability up to a constant factor.
  const weight = (count: number) =>
    binomialProbability(count, first.trials, pooled) * binomialProbability(successes - count, second.trials, pooled);
  const from = Math.max(0, successes - second.trials);
  const to = Math.min(first.trials, successes);
  const weights = Array.from({ length: to - from + 1 }, (_, index) => weight(from + index));
  const limit = weights[first.successes - from] * (1 + 1e-11);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return Math.min(1, sum(weights.filter((value) => value <= limit)) / sum(weights));
}

/** Successes over trials. @throws {RangeError} on invalid counts */
export function share({ successes, trials }: Count): number {
  requireTrials(trials);
  requireSuccesses(successes, trials);
  return successes / trials;
}

function zOf(confidence: number): number {
  return normalQuantile((1 + confidence) / 2);
}
