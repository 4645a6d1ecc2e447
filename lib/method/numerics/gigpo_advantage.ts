import { groupAdvantages } from "./group_advantage.ts";
import type { GroupAdvantageOptions } from "./group_advantage.ts";
import { sequenceRatio } from "./sequence_ratio.ts";

/** The steps of many trajectories, mixed; one entry for each step. */
export interface GigpoSteps {
  /** The reward of the step's whole trajectory, repeated at each of its steps. */
  episodeRewards: readonly number[];
  /** Discounted return from the step on; see `discountedReturns`. */
  returns: readonly number[];
  /** The task that the step's trajectory works on. */
  tasks: readonly string[];
  /** What the policy saw before the step. */
  anchors: readonly string[];
}

/** Settings of GiGPO. */
export interface GigpoOptions extends GroupAdvantageOptions {
  /** Weight of the step advantage against the episode advantage; default 1. */
  stepWeight?: number;
  /** Anchors of at least this `sequenceRatio` to a group's first anchor join it; absent: only equal anchors do. */
  similarity?: number;
}

/** Advantages of each step. */
export interface GigpoAdvantages {
  /** Episode advantage plus `stepWeight` times step advantage; goes to every token of the step. */
  advantages: number[];
  episodeAdvantages: number[];
  stepAdvantages: number[];
}

/**
 * Group-in-group advantages (GiGPO, Feng et al. 2025; verl-agent gigpo/core_gigpo.py, compute_gigpo_outcome_advantage).
 *
 * Outer group: all steps of a task, so that a long trajectory weighs more in mean and deviation. Inner group: steps of a
 * task that start from the same observation, compared by return; a step alone in its group has step advantage 0.
 */
export function gigpoAdvantages(steps: GigpoSteps, options: GigpoOptions = {}): GigpoAdvantages {
  const { stepWeight = 1 } = options;
  const episodeAdvantages = advantagesByGroup(
    steps.episodeRewards,
    steps.tasks,
    (rewards) => groupAdvantages(rewards, options),
  );
  const groups = stepGroups(steps.anchors, steps.tasks, options.similarity);
  const stepAdvantages = advantagesByGroup(
    steps.returns,
    groups,
    (returns) => returns.length === 1 ? [0] : groupAdvantages(returns, options),
  );
  return {
    advantages: episodeAdvantages.map((advantage, step) => advantage + stepWeight * stepAdvantages[step]),
    episodeAdvantages,
    stepAdvantages,
  };
}

/**
 * The inner group of each step, numbered by first appearance (verl-agent gigpo/core_gigpo.py, build_step_group).
 *
 * @param anchors `[steps]`
 * @param tasks `[steps]`; steps of different tasks never share a group
 * @param similarity see {@link GigpoOptions}
 * @returns `[steps]`
 */
export function stepGroups(anchors: readonly string[], tasks: readonly string[], similarity?: number): number[] {
  const known: { task: string; anchor: string }[] = [];
  return anchors.map((anchor, step) => {
    const group = known.findIndex((other) => other.task === tasks[step] && isAlike(anchor, other.anchor, similarity));
    return group >= 0 ? group : known.push({ task: tasks[step], anchor }) - 1;
  });
}

function isAlike(anchor: string, other: string, similarity: number | undefined): boolean {
  return anchor === other || (similarity !== undefined && sequenceRatio(anchor, other) >= similarity);
}

function advantagesByGroup<Key>(
  values: readonly number[],
  groups: readonly Key[],
  advantagesOf: (values: readonly number[]) => readonly number[],
): number[] {
  const members = new Map<Key, number[]>();
  for (const [index, group] of groups.entries()) {
    const known = members.get(group);
    if (known === undefined) members.set(group, [index]);
    else known.push(index);
  }
  const result = new Array<number>(values.length).fill(0);
  for (const indices of members.values()) {
    const advantages = advantagesOf(indices.map((index) => values[index]));
    for (const [position, index] of indices.entries()) result[index] = advantages[position];
  }
  return result;
}
