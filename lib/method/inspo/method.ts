import type { Engine } from "../../engine/engine.ts";
import type { Conditioning, Trajectory } from "../../environment/trajectory.ts";
import { randomStream } from "../../random/stream.ts";
import type { Failure, Reflector } from "../../reflector/reflector.ts";
import type { GroupKey, GrpoSettings } from "../grpo.ts";
import { grpoUpdates } from "../grpo.ts";
import type { Group, Method, Progress } from "../method.ts";
import { failureBuffer } from "./failure_buffer.ts";
import { evolveGeneration, initialPopulation, seedMember } from "./generation.ts";
import { drawMember, topMember, updateWeights } from "./population.ts";
import type { InspoSettings } from "./settings.ts";
import { type InspoState, restoreState } from "./state.ts";

/** What INSPO works with. */
export interface InspoSetup<Task> {
  /** The cell's seed. */
  seed: number;
  /** How the policy is trained; null where it is frozen. */
  training: { engine: Engine; grpo: GrpoSettings; groupKey?: GroupKey<Task> } | null;
  seedInstruction: string;
  settings: InspoSettings;
  reflector: Reflector;
  /** Held-out tasks for verification; at least as many as it samples. */
  verificationTasks: readonly Task[];
  /** A failed trajectory as the reflector reads it. */
  describeFailure(trajectory: Trajectory<Task>): Failure;
  /** Rules that an instruction must keep: in words for the reflector, and as a check. */
  constraints: readonly string[];
  checkInstruction(text: string): { ok: true; text: string } | { ok: false; reason: string };
  /** Equal keys are the same instruction. */
  instructionKey(text: string): string;
}

/**
 * INSPO (arXiv 2512.01945): a population of instructions evolves while the policy that reads them is trained.
 *
 * For each question one instruction is drawn by the softmax of the importance weights; its group of rollouts shares
 * question and instruction, trains the policy by GRPO and moves that instruction's weight. Every K steps the lower
 * half is dropped and the population refilled with instructions that a reflector wrote after seeing failures of the
 * top instruction and that did well on held-out questions with the current policy.
 */
export function inspoMethod<Task>(setup: InspoSetup<Task>): Method<Task> {
  const { settings, seed, training } = setup;
  let state: InspoState = {
    updates: 0,
    created: 0,
    optimizerCalls: 0,
    population: [seedMember(setup.seedInstruction)],
    failures: failureBuffer(settings.bufferCapacity),
  };

  return {
    condition: (_task, step, group) => {
      const { id, text } = drawMember(
        state.population,
        settings.samplingTemperature,
        randomStream(seed, "instruction", step, group),
      );
      return { id, text };
    },
    learn: (groups) =>
      training === null
        ? Promise.resolve([])
        : grpoUpdates(training.engine, groups, training.grpo, state.updates++, training.groupKey),
    evolve: async (progress) => {
      if (progress.step === 0) state = await initialPopulation(setup, state, progress);
      else await afterStep(progress);
      recordPopulation(progress);
    },
    evaluationConditioning: (): Conditioning => {
      const { id, text } = topMember(state.population);
      return { id, text };
    },
    metrics: () => ({
      population: state.population.length,
      top_weight: topMember(state.population).weight,
      top_words: topMember(state.population).text.split(/\s+/).filter((word) => word !== "").length,
      optimizer_calls: state.optimizerCalls,
    }),
    snapshot: () => ({ ...state, failures: state.failures.all() }),
    restore: (saved) => {
      state = restoreState(saved, settings.bufferCapacity);
    },
  };

  async function afterStep(progress: Progress<Task>): Promise<void> {
    state = {
      ...state,
      population: updateWeights(state.population, rewardsByInstruction(progress.groups), settings.weightRate),
    };
    for (const trajectory of progress.groups.flatMap((group) => group.trajectories)) {
      if (trajectory.reward > 0) continue;
      state.failures.add({
        ...setup.describeFailure(trajectory),
        instructionId: trajectory.conditioning.id ?? "",
        step: progress.step,
      });
    }
    const isDue = settings.evolutionInterval !== null && progress.step % settings.evolutionInterval === 0;
    if (isDue) state = await evolveGeneration(setup, state, progress);
  }

  function recordPopulation(progress: Progress<Task>): void {
    progress.record("population", { members: state.population.map(({ id, weight, uses }) => ({ id, weight, uses })) });
  }
}

function rewardsByInstruction<Task>(groups: readonly Group<Task>[]): Map<string, number[]> {
  const rewards = new Map<string, number[]>();
  for (const { conditioning, trajectories } of groups) {
    const own = rewards.get(conditioning.id ?? "") ?? [];
    own.push(...trajectories.map(({ reward }) => reward));
    rewards.set(conditioning.id ?? "", own);
  }
  return rewards;
}
