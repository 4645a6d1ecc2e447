/**
 * The engine: a trainable language model behind a few calls.
 *
 * Everything the methods do to the weights is a token-weighted update on sequences that the model sampled or was
 * given, so one small interface carries them from a laptop to a cluster.
 *
 * @module
 */

/** One turn of a conversation, in the form chat templates take. */
export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

/** What an engine can do beyond the minimum; a cell that needs a missing capability is refused before it starts. */
export interface EngineCapabilities {
  /** Can change its weights (`forwardBackward`, `optimStep`). */
  training: boolean;
  /** Can hold named copies of the weights. */
  snapshots: boolean;
  /** Loss kinds that it computes exactly as {@link Loss} defines them. */
  losses: readonly Loss["kind"][];
  /** `"honoured"`: equal seeds give equal samples. `"ignored"`: they do not. */
  seed: "honoured" | "ignored";
}

/** Facts about an engine that a reader of a result needs. */
export interface EngineInfo {
  /** Which implementation this is, e.g. `micro`. */
  name: string;
  /** Model id; for a local checkpoint also what its weights hash to. */
  model: string;
  /** Most tokens that prompt and continuation may have together. */
  contextLength: number;
  /** Number of token ids. */
  vocabulary: number;
  /** Number of trainable parameters. */
  parameters: number;
  /** Where it computes, e.g. `wasm-simd, 1 thread`. */
  device: string;
  /** Versions of the programs involved. */
  versions: Readonly<Record<string, string>>;
  capabilities: EngineCapabilities;
}

/** How to sample. */
export interface SampleOptions {
  /** Samples for each prompt; default 1. */
  n?: number;
  /** Most tokens in each sample, at least 1. */
  maxTokens: number;
  /** 0 is greedy: the most probable token, the lowest id on ties. */
  temperature: number;
  /** Nucleus: sample among the most probable tokens that together reach this mass; default 1 (all). */
  topP?: number;
  /** Texts that end a sample; the text itself is kept. An engine must not go on behind one. */
  stop?: readonly string[];
  /**
   * One seed (32 bits) for each prompt. A sample depends on its prompt, its own seed and the weights only, never on
   * what else is in the batch.
   */
  seeds: readonly number[];
}

/** One sampled continuation. */
export interface Sample {
  tokens: Int32Array;
  /** log p(token) under the distribution it was drawn from; at temperature 0 under the distribution at temperature 1. */
  logprobs: Float32Array;
  /** `stop`: a stop text or the model's own end. `length`: `maxTokens` or the context ran out. */
  finish: "stop" | "length";
}

/** A continuation in its context, to be scored. */
export interface Sequence {
  prompt: Int32Array;
  continuation: Int32Array;
}

/** A sequence to learn from. All arrays have one entry for each continuation token. */
export interface Datum extends Sequence {
  /** 1 = the token takes part in the loss, 0 = it does not (tool output). */
  mask: Float32Array;
  /** Advantage (`ppo`) or weight (`weighted-nll`, `teacher-kl`). */
  weights: Float32Array;
  /** Log-probabilities at sampling time; needed by `ppo`. */
  logprobs?: Float32Array;
  /** The context under which the teacher reads the same continuation; needed by `teacher-kl`. */
  teacherPrompt?: Int32Array;
}

/**
 * How token losses become one number, in veRL's words: `token-mean` divides by all unmasked tokens of the accumulated
 * step, `seq-mean-token-mean` averages inside each sequence first and then over sequences.
 */
export type Aggregation = "token-mean" | "seq-mean-token-mean";

/**
 * A loss over a batch. Sums are normalised over everything accumulated until `optimStep` (losses of different kind or
 * aggregation separately), so splitting a batch over several calls does not change the update.
 *
 * - `ppo`: −min(ρA, clip(ρ, 1−clipLow, 1+clipHigh)·A), with A < 0 bounded below by dualClip·A (dual clip), plus
 *   klCoef times the k3 estimator exp(r−ℓ) − (r−ℓ) − 1 against the snapshot `reference`. Log-ratios are clamped to ±20; the
 *   k3 value is clamped to 10, with gradient 0 there, as in veRL's low_var_kl.
 * - `weighted-nll`: −weight·ℓ.
 * - `teacher-kl`: weight·KL(teacher ‖ student) over the whole vocabulary; the teacher reads `teacherPrompt`.
 */
export type Loss =
  | {
    kind: "ppo";
    clipLow: number;
    clipHigh: number;
    dualClip?: number;
    klCoef?: number;
    /** Name of the snapshot that the KL term refers to; default `reference`. */
    reference?: string;
    aggregation: Aggregation;
    coefficient?: number;
  }
  | { kind: "weighted-nll"; aggregation: Aggregation; coefficient?: number }
  | { kind: "teacher-kl"; teacher: string; aggregation: Aggregation; coefficient?: number };

/** AdamW step settings. */
export interface OptimOptions {
  learningRate: number;
  beta1?: number;
  beta2?: number;
  epsilon?: number;
  weightDecay?: number;
  /** Largest global gradient norm; larger gradients are scaled down. */
  maxGradNorm?: number;
}

/** Named numbers about an update (`loss`, `kl`, `clip_fraction`, `entropy`, `grad_norm`, `tokens`, …). */
export type UpdateMetrics = Readonly<Record<string, number>>;

/** A trainable language model. Calls are made one after another; an engine is not re-entrant. */
export interface Engine {
  readonly info: EngineInfo;
  /**
   * Tokens of a conversation through the chat template, generation prompt included; a plain string is tokenised as it
   * stands, without template (tool output that is appended to a running context).
   */
  encode(text: readonly Message[] | string): Promise<Int32Array>;
  /** The text of tokens; the inverse of `encode(string)` for text in the model's vocabulary. */
  decode(tokens: Int32Array): Promise<string>;
  /** `[prompts][n]` samples. @throws {RangeError} on an empty prompt, or one that leaves no room in the context */
  sample(prompts: readonly Int32Array[], options: SampleOptions): Promise<Sample[][]>;
  /** log p of every continuation token, at temperature 1, under the current weights or a snapshot. */
  logprobs(sequences: readonly Sequence[], snapshot?: string): Promise<Float32Array[]>;
  /** Keeps a named copy of the weights: KL reference, frozen or lagged teacher. */
  snapshot(name: string): Promise<void>;
  /** Accumulates gradients. */
  forwardBackward(batch: readonly Datum[], loss: Loss): Promise<UpdateMetrics>;
  /** One optimizer step from the accumulated gradients, which are then cleared. @throws {Error} on a non-finite gradient */
  optimStep(options: OptimOptions): Promise<UpdateMetrics>;
  /** Writes weights and optimizer state into a folder, atomically. */
  save(path: string): Promise<void>;
  /** Reads what {@link Engine.save} wrote. */
  load(path: string): Promise<void>;
  close(): Promise<void>;
}
