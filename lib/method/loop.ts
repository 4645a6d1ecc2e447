import type { Engine, UpdateMetrics } from "../engine/engine.ts";
import type { Conditioning, Decoding, Environment, RolloutRequest, Trajectory } from "../environment/trajectory.ts";
import { hashSeed, randomStream } from "../random/stream.ts";
import type { Group, Method, Progress, Update } from "./method.ts";

/** A panel with the ways it is decoded. */
export interface EvaluationPanel<Task> {
  name: string;
  tasks: readonly Task[];
  decodings: readonly ({ name: string } & Decoding)[];
}

/** What the loop runs. */
export interface LoopSetup<Task> {
  /** The cell's seed: every source of randomness is a named stream derived from it. */
  seed: number;
  /** Null where the policy is frozen. */
  engine: Engine | null;
  environment: Environment<Task>;
  method: Method<Task>;
  trainingTasks: readonly Task[];
  /** Id of a task, for the records. */
  taskId(task: Task): string;
  /** Tasks a step. */
  groupsPerStep: number;
  /** Rollouts a task. */
  groupSize: number;
  /** Rollouts that may be made in all; evaluation is never charged, verification and replays are. */
  budget: number;
  /** Sampling temperature of training rollouts. */
  temperature: number;
  /** Evaluates whenever this many more rollouts have been charged, before the first step and at the end. */
  evaluationInterval: number;
  panels: readonly EvaluationPanel<Task>[];
}

/** Where the loop stands; with the method's state and the weights it is all that a resumed run needs. */
export interface LoopState {
  step: number;
  rollouts: number;
  evaluations: number;
  nextEvaluation: number;
  /** Rollouts charged at the last evaluation; −1 before the first. */
  evaluatedAt: number;
}

/** What the loop tells its owner, in order. */
export interface LoopObserver<Task> {
  step(state: LoopState, metrics: Record<string, number>): void;
  event(state: LoopState, name: string, data: Record<string, unknown>): void;
  evaluation(
    state: LoopState,
    panel: EvaluationPanel<Task>,
    decoding: string,
    conditioning: Conditioning,
    trajectories: readonly Trajectory<Task>[],
  ): void;
  /** After each step, when everything of it has been told. A resumed run continues from here. Returns true to stop early. */
  boundary(state: LoopState): Promise<boolean>;
}

/**
 * The loop that all methods share: sample tasks → roll out groups → rewards → learn → update → evolve → evaluate when
 * due. A step is made only if the budget allows all of its rollouts.
 *
 * @param from where to go on; default: the beginning
 * @returns where it stopped, and whether the budget is used up
 */
export async function runLoop<Task>(
  setup: LoopSetup<Task>,
  observer: LoopObserver<Task>,
  from?: LoopState,
): Promise<{ state: LoopState; isFinished: boolean }> {
  const state: LoopState = {
    ...(from ?? { step: 0, rollouts: 0, evaluations: 0, nextEvaluation: 0, evaluatedAt: -1 }),
  };
  if (from === undefined) {
    // Before anything is spent: the point that all arms have in common.
    await evaluateWhenDue(setup, observer, state);
    await setup.method.evolve(progressOf(setup, observer, state, []));
    if (await observer.boundary(state)) return { state, isFinished: false };
  }
  const stepRollouts = setup.groupsPerStep * setup.groupSize;
  while (state.rollouts + stepRollouts <= setup.budget) {
    await takeStep(setup, observer, state);
    await evaluateWhenDue(setup, observer, state);
    if (await observer.boundary(state)) return { state, isFinished: false };
  }
  await evaluateAtEnd(setup, observer, state);
  return { state, isFinished: true };
}

async function takeStep<Task>(setup: LoopSetup<Task>, observer: LoopObserver<Task>, state: LoopState): Promise<void> {
  const groups = await rollOutGroups(setup, state.step);
  state.rollouts += setup.groupsPerStep * setup.groupSize;
  const updates = await setup.method.learn(groups);
  const updateMetrics = setup.engine === null ? {} : await applyUpdates(setup.engine, updates);
  state.step++;
  await setup.method.evolve(progressOf(setup, observer, state, groups));
  observer.step(state, { ...rolloutMetrics(groups), ...updateMetrics, ...setup.method.metrics() });
}

async function rollOutGroups<Task>(setup: LoopSetup<Task>, step: number): Promise<Group<Task>[]> {
  const { seed, method, groupsPerStep, groupSize } = setup;
  const stream = randomStream(seed, "tasks", step);
  const drawn = Array.from({ length: groupsPerStep }, (_, group) => {
    const task = stream.pick(setup.trainingTasks);
    return { task, conditioning: method.condition(task, step, group) };
  });
  const requests: RolloutRequest<Task>[] = drawn.flatMap(({ task, conditioning }, group) =>
    Array.from(
      { length: groupSize },
      (_, member) => ({ task, conditioning, seed: hashSeed(seed, "rollout", step, group, member) }),
    )
  );
  const trajectories = await setup.environment.rollout(requests, { temperature: setup.temperature });
  return drawn.map(({ task, conditioning }, group) => ({
    task,
    conditioning,
    trajectories: trajectories.slice(group * groupSize, (group + 1) * groupSize),
  }));
}

async function applyUpdates(engine: Engine, updates: readonly Update[]): Promise<Record<string, number>> {
  const all: UpdateMetrics[] = [];
  for (const { batches, optim } of updates) {
    for (const { data, loss } of batches) all.push(await engine.forwardBackward(data, loss));
    all.push(await engine.optimStep(optim));
  }
  return meanByName(all);
}

function meanByName(all: readonly UpdateMetrics[]): Record<string, number> {
  const names = new Set(all.flatMap((metrics) => Object.keys(metrics)));
  return Object.fromEntries([...names].map((name) => {
    const values = all.flatMap((metrics) => name in metrics ? [metrics[name]] : []);
    return [name, mean(values)];
  }));
}

function rolloutMetrics<Task>(groups: readonly Group<Task>[]): Record<string, number> {
  const trajectories = groups.flatMap((group) => group.trajectories);
  const mixed = groups.filter(({ trajectories }) => new Set(trajectories.map(({ reward }) => reward)).size > 1);
  return {
    reward: mean(trajectories.map(({ reward }) => reward)),
    mixed_groups: mixed.length / groups.length,
    turns: mean(trajectories.map(({ turns }) => turns)),
    ...countMetrics(trajectories),
  };
}

/** Mean of every count over trajectories. */
export function countMetrics<Task>(trajectories: readonly Trajectory<Task>[]): Record<string, number> {
  return meanByName(trajectories.map(({ counts }) => counts));
}

async function evaluateWhenDue<Task>(
  setup: LoopSetup<Task>,
  observer: LoopObserver<Task>,
  state: LoopState,
): Promise<void> {
  if (state.rollouts < state.nextEvaluation) return;
  await evaluate(setup, observer, state);
  state.nextEvaluation = (Math.floor(state.rollouts / setup.evaluationInterval) + 1) * setup.evaluationInterval;
}

/** The budget may end between two points of the schedule; the last weights are always evaluated, once. */
async function evaluateAtEnd<Task>(
  setup: LoopSetup<Task>,
  observer: LoopObserver<Task>,
  state: LoopState,
): Promise<void> {
  if (state.evaluatedAt !== state.rollouts) await evaluate(setup, observer, state);
}

async function evaluate<Task>(setup: LoopSetup<Task>, observer: LoopObserver<Task>, state: LoopState): Promise<void> {
  const conditioning = setup.method.evaluationConditioning();
  for (const panel of setup.panels) {
    for (const decoding of panel.decodings) {
      const requests = panel.tasks.map((task, index) => ({
        task,
        conditioning,
        seed: hashSeed(setup.seed, "evaluation", state.rollouts, panel.name, decoding.name, index),
      }));
      const trajectories = await setup.environment.rollout(requests, decoding);
      observer.evaluation(state, panel, decoding.name, conditioning, trajectories);
      state.evaluations++;
    }
  }
  state.evaluatedAt = state.rollouts;
}

function progressOf<Task>(
  setup: LoopSetup<Task>,
  observer: LoopObserver<Task>,
  state: LoopState,
  groups: readonly Group<Task>[],
): Progress<Task> {
  const affords = (rollouts: number) => state.rollouts + rollouts <= setup.budget;
  return {
    step: state.step,
    get rollouts() {
      return state.rollouts;
    },
    budget: setup.budget,
    groups,
    affords,
    rollout: async (requests, temperature) => {
      if (!affords(requests.length)) {
        throw new RangeError(
          `Cannot make ${requests.length} more rollouts: ${state.rollouts} of ${setup.budget} are used`,
        );
      }
      state.rollouts += requests.length;
      return await setup.environment.rollout(requests, { temperature });
    },
    record: (name, data) => observer.event(state, name, data),
  };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}
