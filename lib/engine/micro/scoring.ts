import type { Sequence } from "../engine.ts";
import { type Activations, forward } from "./forward.ts";
import type { Pointer } from "./kernels.ts";
import type { Model } from "./model.ts";
import { type PackedBatch, packSequences, splitByTokens } from "./packed_batch.ts";

/**
 * Most tokens of one pass; a larger batch is cut. A pass of this size takes about 10 MB at the default sizes, and a
 * larger one is not faster: its activations no longer fit into the processor's cache.
 */
export const TOKENS_PER_PASS = 1024;

/** log p of every continuation token under `weights`, sequence by sequence. */
export function scoreSequences(model: Model, weights: Pointer, sequences: readonly Sequence[]): Float32Array[] {
  const scores: Float32Array[] = [];
  for (const part of splitByTokens(sequences, TOKENS_PER_PASS)) {
    model.arena.release();
    const batch = packSequences(part, model.arena);
    const flat = targetLogprobs(model, batch, forward(model, weights, batch));
    let offset = 0;
    for (const { continuation } of part) {
      scores.push(flat.slice(offset, offset + continuation.length));
      offset += continuation.length;
    }
  }
  return scores;
}

/** log p of every continuation token of a pass, one sequence behind another. */
export function targetLogprobs({ arena, shape }: Model, batch: PackedBatch, activations: Activations): Float32Array {
  const { f32, i32 } = arena;
  const table = activations.logprobs >> 2;
  const targets = batch.targets >> 2;
  const result = new Float32Array(batch.scored);
  for (let t = 0; t < batch.scored; t++) result[t] = f32[table + t * shape.vocabulary + i32[targets + t]];
  return result;
}
