import type { Message } from "../engine/engine.ts";
import type { Segment } from "./policy.ts";

/** Text that the policy reads besides the task: an instruction, a skill, a template. */
export interface Conditioning {
  /** Short and unique within a run, or null where there is no such text. */
  id: string | null;
  text: string;
}

/** One prompt and what followed it: an exchange of the policy with the environment. */
export interface Exchange {
  prompt: readonly Message[];
  segments: readonly Segment[];
}

/** One attempt at a task. */
export interface Trajectory<Task> {
  task: Task;
  conditioning: Conditioning;
  /** Search QA has one; an environment that renders a new prompt each turn has one for each turn. */
  exchanges: readonly Exchange[];
  reward: number;
  /** The policy's answer, or null if it gave none. */
  answer: string | null;
  turns: number;
  /** Counts for the journal (`searches`, `valid_actions`, …). */
  counts: Readonly<Record<string, number>>;
}

/** A request for one trajectory. */
export interface RolloutRequest<Task> {
  task: Task;
  conditioning: Conditioning;
  /** Decides everything random in this trajectory; two requests with equal seeds differ only by task and weights. */
  seed: number;
}

/** How rollouts are sampled. */
export interface Decoding {
  /** 0 is greedy. */
  temperature: number;
  topP?: number;
}

/** A place where trajectories happen. */
export interface Environment<Task> {
  rollout(requests: readonly RolloutRequest<Task>[], decoding: Decoding): Promise<Trajectory<Task>[]>;
}
