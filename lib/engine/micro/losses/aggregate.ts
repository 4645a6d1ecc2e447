import type { Aggregation } from "../../engine.ts";

/** How a batch's token losses become one number: Σ weight · loss / denominator. */
export interface TokenWeights {
  /** One for each token; 0 where it is masked. */
  weights: Float64Array;
  /** Number of unmasked tokens (`token-mean`), or of sequences that have any (`seq-mean-token-mean`). */
  denominator: number;
}

/**
 * The weights of veRL's `agg_loss`, not yet divided by the denominator, so that the parts of a batch can be added up
 * before it is known.
 *
 * @param masks one array for each sequence, 1 = in the loss
 */
export function tokenWeights(masks: readonly ArrayLike<number>[], aggregation: Aggregation): TokenWeights {
  const weights = new Float64Array(masks.reduce((sum, mask) => sum + mask.length, 0));
  let denominator = 0;
  let offset = 0;
  for (const mask of masks) {
    let tokens = 0;
    for (let t = 0; t < mask.length; t++) tokens += mask[t];
    // veRL core_algos.py agg_loss: adds 1e-8 to the count, leaves out sequences that are masked altogether.
    const share = aggregation === "token-mean" ? 1 : 1 / (tokens + 1e-8);
    for (let t = 0; t < mask.length; t++) weights[offset + t] = mask[t] * share;
    denominator += aggregation === "token-mean" ? tokens : tokens > 0 ? 1 : 0;
    offset += mask.length;
  }
  return { weights, denominator };
}

/** Σ weight · value / denominator; 0 where everything is masked. */
export function aggregate(values: ArrayLike<number>, { weights, denominator }: TokenWeights): number {
  let sum = 0;
  for (let t = 0; t < weights.length; t++) if (weights[t] !== 0) sum += weights[t] * values[t];
  return denominator === 0 ? 0 : sum / denominator;
}
