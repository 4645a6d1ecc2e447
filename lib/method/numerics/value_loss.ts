import { aggregateLoss } from "./aggregate_loss.ts";
import { maskedMean } from "./masked_statistics.ts";
import { mapTokens, requireSameShape } from "./token_matrix.ts";
import type { TokenMatrix } from "./token_matrix.ts";

/** A critic's batch; everything is `[sequences][tokens]`. */
export interface ValueBatch {
  /** Values under the critic that is being trained. */
  predictions: TokenMatrix;
  returns: TokenMatrix;
  /** Values at sampling time. */
  oldValues: TokenMatrix;
  /** 1 = the token counts, 0 = it does not. */
  mask: TokenMatrix;
}

/** A critic's loss with veRL's metric. */
export interface ValueLoss {
  loss: number;
  /** Share of tokens where clipping decided: `vf_clipfrac`. */
  clipFraction: number;
}

/**
 * Half the mean squared error of the values, pessimistic under clipping: predictions may leave their old values by at
 * most `clipRange` (verl 0.9.1 core_algos.py, compute_value_loss with `token-mean`).
 *
 * @throws {RangeError} if the shapes differ
 */
export function valueLoss({ predictions, returns, oldValues, mask }: ValueBatch, clipRange: number): ValueLoss {
  requireSameShape("compute the value loss", predictions, returns, oldValues, mask);
  const unclipped = mapTokens(predictions, (value, row, token) => (value - returns[row][token]) ** 2);
  const clipped = mapTokens(predictions, (value, row, token) => {
    const old = oldValues[row][token];
    return (Math.max(old - clipRange, Math.min(old + clipRange, value)) - returns[row][token]) ** 2;
  });
  const larger = mapTokens(unclipped, (error, row, token) => Math.max(error, clipped[row][token]));
  return {
    loss: aggregateLoss(larger, mask, "token-mean") / 2,
    clipFraction: maskedMean(mapTokens(unclipped, (error, row, token) => clipped[row][token] > error ? 1 : 0), mask),
  };
}
