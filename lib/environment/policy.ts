import type { Message } from "../engine/engine.ts";

/** A piece of a trajectory behind its prompt: written by the policy, or by the environment (tool output). */
export interface Segment {
  by: "policy" | "environment";
  text: string;
  /** Absent where the policy has no tokenizer of its own (a model behind an API). */
  tokens?: Int32Array;
  /** Log-probabilities of the policy's own tokens at sampling time. */
  logprobs?: Float32Array;
  /** Of a policy's segment: how it ended; `full`: nothing was written, because the context has no room. */
  finish?: "stop" | "length" | "full";
}

/** What a policy reads before it writes its next segment. */
export interface Context {
  prompt: readonly Message[];
  segments: readonly Segment[];
}

/** How a policy writes; see `SampleOptions` of the engine. */
export interface GenerateOptions {
  maxTokens: number;
  temperature: number;
  topP?: number;
  stop?: readonly string[];
  /** One for each context. */
  seeds: readonly number[];
}

/** Whoever acts in an environment: an engine's model, or a frozen model behind an API. */
export interface Policy {
  /** The next segment in each context. */
  generate(contexts: readonly Context[], options: GenerateOptions): Promise<Segment[]>;
  /** The environment's text as a segment of this policy's contexts. */
  observe(text: string): Promise<Segment>;
  /**
   * The first `maxTokens` tokens of a text. A policy without tokenizer counts four characters as a token.
   */
  shorten(text: string, maxTokens: number): Promise<string>;
}
