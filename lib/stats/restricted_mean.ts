import type { CurvePoint } from "./area_under_curve.ts";

/** How much effort runs took to reach a threshold, where some never did. */
export interface RestrictedMean {
  /** Mean of min(effort, budget): runs that did not arrive count as the whole budget, so it is a lower bound. */
  mean: number;
  /** One for each run, with the budget in place of null; what tests between arms take. */
  restricted: number[];
  /** Runs that reached the threshold within the budget. */
  reached: number;
  /** Runs that did not: their effort is known only to be above the budget. */
  censored: number;
  budget: number;
}

/**
 * Effort at which a learning curve first reaches a threshold, or null if it never does.
 *
 * @param curve points in ascending order of x
 */
export function effortToThreshold(curve: readonly CurvePoint[], threshold: number): number | null {
  return curve.find(({ y }) => y >= threshold)?.x ?? null;
}

/**
 * Restricted mean of efforts that are censored at a common budget.
 *
 * @param efforts one for each run; null = not reached. Later than the budget counts as not reached.
 * @throws {RangeError} if there are no runs, or the budget is not positive
 */
export function restrictedMean(efforts: readonly (number | null)[], budget: number): RestrictedMean {
  if (efforts.length === 0) throw new RangeError("Cannot average the effort of no runs");
  if (!(budget > 0)) throw new RangeError(`Cannot restrict efforts to a budget of ${budget}: need more than 0`);
  const restricted = efforts.map((effort) => Math.min(effort ?? budget, budget));
  const reached = efforts.filter((effort) => effort !== null && effort <= budget).length;
  return {
    mean: restricted.reduce((sum, effort) => sum + effort, 0) / restricted.length,
    restricted,
    reached,
    censored: efforts.length - reached,
    budget,
  };
}
