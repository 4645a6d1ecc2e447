/** How {@link groupAdvantages} scales. */
export interface GroupAdvantageOptions {
  /** Divide by the group's standard deviation; default true. Dr. GRPO does not (veRL `norm_adv_by_std_in_grpo`). */
  normalizeByStd?: boolean;
  /** Added to the standard deviation before dividing; default 1e-6. */
  epsilon?: number;
}

/**
 * Group-relative advantages of GRPO: each reward minus the group's mean, divided by the group's unbiased standard
 * deviation plus `epsilon` (veRL 0.9.1 and Search-R1 core_algos.py, compute_grpo_outcome_advantage).
 *
 * A group of one has mean 0 and standard deviation 1, so its advantage is the raw reward over 1 + epsilon.
 *
 * @param rewards `[rollouts]`, the total reward of each rollout of one group
 * @returns `[rollouts]`
 */
export function groupAdvantages(rewards: readonly number[], options: GroupAdvantageOptions = {}): number[] {
  const { normalizeByStd = true, epsilon = 1e-6 } = options;
  const single = rewards.length === 1;
  const mean = single ? 0 : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  if (!normalizeByStd) return rewards.map((reward) => reward - mean);
  const squares = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  // veRL makes the 1 of a group of one in single precision, whatever the rewards' precision.
  const divisor = single ? Math.fround(1 + epsilon) : Math.sqrt(squares / (rewards.length - 1)) + epsilon;
  return rewards.map((reward) => (reward - mean) / divisor);
}
