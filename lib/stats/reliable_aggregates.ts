import { mean } from "./mean.ts";
import { quantile } from "./quantile.ts";

/** Normalised scores, `[runs][tasks]`. */
export type ScoreMatrix = readonly (readonly number[])[];

/**
 * Interquartile mean: the mean of the middle half of all runs and tasks together (Agarwal et al. 2021, rliable).
 *
 * Only for scores normalised per task: on raw scores the trimming deletes whole tasks.
 */
export function interquartileMean(scores: ScoreMatrix): number {
  const sorted = scores.flat().sort((a, b) => a - b);
  const cut = Math.floor(sorted.length / 4);
  return mean(sorted.slice(cut, sorted.length - cut));
}

/** Mean over tasks of the mean over runs. */
export function meanOfTasks(scores: ScoreMatrix): number {
  return mean(taskMeans(scores));
}

/** Median over tasks of the mean over runs. @throws {RangeError} if there are no tasks */
export function medianOfTasks(scores: ScoreMatrix): number {
  return quantile(taskMeans(scores), 0.5);
}

/** γ less the mean score cut at γ: how far runs stay below a level that counts as solved. */
export function optimalityGap(scores: ScoreMatrix, gamma = 1): number {
  return gamma - mean(scores.flat().map((score) => Math.min(score, gamma)));
}

/** Share of runs and tasks with a score above τ, for each τ. */
export function performanceProfile(scores: ScoreMatrix, taus: readonly number[]): number[] {
  return taus.map((tau) => shareAbove(scores.flat(), tau));
}

/** Share of tasks whose mean over runs is above τ, for each τ. */
export function meanPerformanceProfile(scores: ScoreMatrix, taus: readonly number[]): number[] {
  return taus.map((tau) => shareAbove(taskMeans(scores), tau));
}

/** P(a run of the first beats a run of the second on a task), ties ½, averaged over tasks. */
export function probabilityOfImprovement(first: ScoreMatrix, second: ScoreMatrix): number {
  return mean(first[0].map((_, task) => {
    const wins = first.flatMap((a) => second.map((b) => a[task] > b[task] ? 1 : a[task] === b[task] ? 0.5 : 0));
    return mean(wins);
  }));
}

function taskMeans(scores: ScoreMatrix): number[] {
  return scores[0].map((_, task) => mean(scores.map((run) => run[task])));
}

function shareAbove(values: readonly number[], tau: number): number {
  return values.filter((value) => value > tau).length / values.length;
}
