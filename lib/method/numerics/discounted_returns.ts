/**
 * Discounted return of every step, R_t = r_t + γ·R_{t+1} inside its trajectory (verl-agent gigpo/core_gigpo.py,
 * compute_step_discounted_returns).
 *
 * @param rewards `[steps]`, of all trajectories mixed; a trajectory's steps stand in their order
 * @param trajectories `[steps]`, the trajectory of each step
 * @param gamma discount, in [0, 1]
 * @param active `[steps]`, 0 for a step behind a trajectory's end; default all 1
 * @returns `[steps]`
 * @throws {RangeError} if a step is not active: such steps have to be dropped before
 */
export function discountedReturns(
  rewards: readonly number[],
  trajectories: readonly string[],
  gamma: number,
  active: readonly number[] = [],
): number[] {
  const inactive = active.findIndex((flag) => !flag);
  if (inactive >= 0) throw new RangeError(`Cannot discount step ${inactive}: it is behind the end of its trajectory`);
  const returns = new Array<number>(rewards.length).fill(0);
  const behind = new Map<string, number>();
  for (let step = rewards.length - 1; step >= 0; step--) {
    returns[step] = rewards[step] + gamma * (behind.get(trajectories[step]) ?? 0);
    behind.set(trajectories[step], returns[step]);
  }
  return returns;
}
