/**
 * RLOO advantages: each reward minus the mean of the others in its group (verl 0.9.1 core_algos.py,
 * compute_rloo_outcome_advantage). A group of one keeps its raw reward.
 *
 * @param rewards `[rollouts]`, the total reward of each rollout of one group
 * @returns `[rollouts]`
 */
export function leaveOneOutAdvantages(rewards: readonly number[]): number[] {
  if (rewards.length === 1) return [...rewards];
  const sum = rewards.reduce((total, reward) => total + reward, 0);
  return rewards.map((reward) => reward - (sum - reward) / (rewards.length - 1));
}
