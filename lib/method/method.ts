import type { Datum, Loss, OptimOptions } from "../engine/engine.ts";
import type { Conditioning, Trajectory } from "../environment/trajectory.ts";

/** Rollouts of one task that are compared with each other. */
export interface Group<Task> {
  task: Task;
  conditioning: Conditioning;
  trajectories: readonly Trajectory<Task>[];
}

/** One optimizer step: gradients of all batches are accumulated first. */
export interface Update {
  batches: readonly { data: readonly Datum[]; loss: Loss }[];
  optim: OptimOptions;
}

/** What a method may ask of the loop between updates. */
export interface Progress<Task> {
  /** Updates made so far; 0 before the first. */
  step: number;
  /** Rollouts charged so far, and the most there may be. */
  rollouts: number;
  budget: number;
  /** Groups of the step that just ended; empty before the first. */
  groups: readonly Group<Task>[];
  /**
   * Rolls out with the current policy and charges the rollouts to the budget.
   * @throws {RangeError} if the budget does not allow them; ask {@link Progress.affords} first
   */
  rollout(
    requests: readonly { task: Task; conditioning: Conditioning; seed: number }[],
    temperature: number,
  ): Promise<Trajectory<Task>[]>;
  /** Whether the budget allows this many more rollouts. */
  affords(rollouts: number): boolean;
  /** Writes an event to the journal. */
  record(name: string, data: Record<string, unknown>): void;
}

/** An algorithm over an engine and an environment; the loop is not part of it. */
export interface Method<Task> {
  /** What the policy reads besides the task, for one group of step `step`. */
  condition(task: Task, step: number, group: number): Conditioning;
  /** Trajectories → weighted tokens; one entry for each optimizer step. */
  learn(groups: readonly Group<Task>[]): Promise<Update[]>;
  /** Reflection, verification, pruning, statistics. Called once before the first step and after every step. */
  evolve(progress: Progress<Task>): Promise<void>;
  /** What the policy reads at evaluation. */
  evaluationConditioning(): Conditioning;
  /** Numbers for the journal's step entry. */
  metrics(): Record<string, number>;
  /** JSON-safe state; saved with the weights, so that a killed run resumes exactly. */
  snapshot(): unknown;
  restore(state: unknown): void;
}
