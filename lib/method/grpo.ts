import type { Aggregation, Datum, Engine, Loss } from "../engine/engine.ts";
import type { Conditioning, Trajectory } from "../environment/trajectory.ts";
import type { Group, Method, Update } from "./method.ts";
import { groupAdvantages } from "./numerics/group_advantage.ts";
import { trajectoryData } from "./trajectory_data.ts";

/** Settings of a GRPO update, in Search-R1's and veRL's terms. */
export interface GrpoSettings {
  learningRate: number;
  /** Steps over which the learning rate rises linearly from 0; 0 for none. */
  warmupSteps: number;
  /** Optimizer steps for each batch of rollouts; trajectories are dealt out in turn. */
  miniBatches: number;
  clipLow: number;
  clipHigh: number;
  dualClip?: number;
  /** Weight of the k3 KL to the frozen starting policy. */
  klCoef: number;
  aggregation: Aggregation;
  maxGradNorm: number;
  adamBetas: readonly [number, number];
  weightDecay: number;
}

/** Names the advantage group of a trajectory; trajectories with equal keys are compared with each other. */
export type GroupKey<Task> = (trajectory: Trajectory<Task>) => string;

/** Name of the snapshot that the KL term refers to: the policy before training. */
export const REFERENCE = "reference";

/**
 * GRPO updates (Search-R1, core_algos.compute_grpo_outcome_advantage): the advantage of a trajectory is its reward,
 * centred and scaled inside its group, on every token it generated.
 *
 * Groups in which all rewards are equal have zero advantage; they still take part in the normalisation and in the KL
 * term, as in veRL. With no tokens to learn from there is no update.
 *
 * @param step the number of this batch, from 0; decides the warm-up
 * @param groupKey default: the groups as given, which share task and conditioning
 */
export async function grpoUpdates<Task>(
  engine: Engine,
  groups: readonly Group<Task>[],
  settings: GrpoSettings,
  step: number,
  groupKey?: GroupKey<Task>,
): Promise<Update[]> {
  const data: Datum[] = [];
  for (const { trajectory, advantage } of withAdvantages(groups, groupKey)) {
    data.push(...await trajectoryData(engine, trajectory, advantage));
  }
  const learnable = data.filter(({ mask }) => mask.some((value) => value > 0));
  const batches = Array.from(
    { length: settings.miniBatches },
    (_, batch) => learnable.filter((_, index) => index % settings.miniBatches === batch),
  );
  return batches.filter((batch) => batch.length > 0).map((batch) => ({
    batches: [{ data: batch, loss: ppoLoss(settings) }],
    optim: {
      learningRate: settings.learningRate * warmup(step, settings.warmupSteps),
      beta1: settings.adamBetas[0],
      beta2: settings.adamBetas[1],
      weightDecay: settings.weightDecay,
      maxGradNorm: settings.maxGradNorm,
    },
  }));
}

function withAdvantages<Task>(
  groups: readonly Group<Task>[],
  groupKey?: GroupKey<Task>,
): { trajectory: Trajectory<Task>; advantage: number }[] {
  const keyed = groups.flatMap(({ trajectories }, group) =>
    trajectories.map((trajectory) => ({ trajectory, key: groupKey?.(trajectory) ?? `${group}` }))
  );
  const byKey = Map.groupBy(keyed, ({ key }) => key);
  const advantages = new Map<Trajectory<Task>, number>();
  for (const members of byKey.values()) {
    const values = groupAdvantages(members.map(({ trajectory }) => trajectory.reward));
    for (const [index, { trajectory }] of members.entries()) advantages.set(trajectory, values[index]);
  }
  return keyed.map(({ trajectory }) => ({ trajectory, advantage: advantages.get(trajectory) ?? 0 }));
}

function ppoLoss({ clipLow, clipHigh, dualClip, klCoef, aggregation }: GrpoSettings): Loss {
  return { kind: "ppo", clipLow, clipHigh, dualClip, klCoef, reference: REFERENCE, aggregation };
}

/** Linear from 0, then constant; the very first update has learning rate 0 (veRL's schedule). */
function warmup(step: number, warmupSteps: number): number {
  return warmupSteps === 0 ? 1 : Math.min(1, step / warmupSteps);
}

/** GRPO with one static text: Search-R1's baseline. */
export function grpoMethod<Task>(
  engine: Engine,
  conditioning: Conditioning,
  settings: GrpoSettings,
  groupKey?: GroupKey<Task>,
): Method<Task> {
  let updates = 0;
  return {
    condition: () => conditioning,
    learn: (groups) => grpoUpdates(engine, groups, settings, updates++, groupKey),
    evolve: () => Promise.resolve(),
    evaluationConditioning: () => conditioning,
    metrics: () => ({}),
    snapshot: () => ({ updates }),
    restore: (state) => {
      updates = (state as { updates: number }).updates;
    },
  };
}
