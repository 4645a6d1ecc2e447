import { mapTokens, requireSameShape } from "./token_matrix.ts";
import type { TokenMatrix } from "./token_matrix.ts";

/**
 * How token losses become one number (verl 0.9.1 core_algos.py, agg_loss):
 *
 * - `token-mean`: over all unmasked tokens. `token-sum`: their sum.
 * - `seq-mean-token-sum`: summed inside each sequence, then the mean over sequences that have an unmasked token.
 * - `seq-mean-token-mean`: the mean inside each sequence (1e-8 is added to its count), then over such sequences.
 * - `seq-mean-token-sum-norm`: `seq-mean-token-sum` over a constant, by default the padded length (Dr. GRPO).
 */
export type LossAggregation =
  | "token-mean"
  | "seq-mean-token-sum"
  | "seq-mean-token-mean"
  | "seq-mean-token-sum-norm"
  | "token-sum";

/** Counts that a worker knows about the whole batch, where it holds a part of it. */
export interface AggregationOptions {
  /** Workers whose results are averaged afterwards; default 1. */
  workers?: number;
  /** Unmasked tokens of the whole batch; default: those of this part. */
  batchTokens?: number;
  /** Sequences of the whole batch; default: those of this part with an unmasked token. */
  batchSequences?: number;
  /** The constant of `seq-mean-token-sum-norm`; default: tokens of a row, padding included. */
  lossScale?: number;
}

/**
 * The weight of every token's loss in the aggregate, which is also the derivative of the aggregate with respect to it.
 * With nothing unmasked the means are 0/0, so the weights are NaN.
 *
 * @param mask `[sequences][tokens]` of 0 and 1
 * @returns `[sequences][tokens]`
 */
export function aggregationWeights(
  mask: TokenMatrix,
  aggregation: LossAggregation,
  options: AggregationOptions = {},
): number[][] {
  const { workers = 1 } = options;
  const counts = mask.map(sum);
  if (aggregation === "token-sum") return mapTokens(mask, (unmasked) => unmasked * workers);
  if (aggregation === "token-mean") {
    const weight = workers / (options.batchTokens ?? sum(counts));
    return mapTokens(mask, (unmasked) => unmasked * weight);
  }
  const sequenceWeight = workers / (options.batchSequences ?? counts.filter((count) => count > 0).length);
  const divisor = (row: number) => {
    if (aggregation === "seq-mean-token-mean") return counts[row] + 1e-8;
    return aggregation === "seq-mean-token-sum-norm" ? options.lossScale ?? mask[row].length : 1;
  };
  return mapTokens(mask, (unmasked, row) => unmasked * sequenceWeight / divisor(row));
}

/**
 * Token losses as one number. Masked tokens do not count, whatever their loss. NaN if nothing is unmasked, except for
 * `token-sum`.
 *
 * @param losses `[sequences][tokens]`
 * @param mask `[sequences][tokens]` of 0 and 1
 * @throws {RangeError} if the shapes differ
 */
export function aggregateLoss(
  losses: TokenMatrix,
  mask: TokenMatrix,
  aggregation: LossAggregation,
  options: AggregationOptions = {},
): number {
  requireSameShape("aggregate the loss", losses, mask);
  const weights = aggregationWeights(mask, aggregation, options);
  let total = 0;
  for (const [row, rowWeights] of weights.entries()) {
    for (const [token, weight] of rowWeights.entries()) if (weight !== 0) total += weight * losses[row][token];
  }
  return total;
}

function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}
