import { aggregateLoss, aggregationWeights } from "./aggregate_loss.ts";
import type { AggregationOptions, LossAggregation } from "./aggregate_loss.ts";
import { maskedMean } from "./masked_statistics.ts";
import { mapTokens, requireSameShape } from "./token_matrix.ts";
import type { TokenMatrix } from "./token_matrix.ts";

/** One batch of sampled tokens; everything is `[sequences][tokens]`. */
export interface PpoBatch {
  /** Log-probabilities at sampling time. */
  oldLogprobs: TokenMatrix;
  /** Log-probabilities under the policy that is being trained. */
  logprobs: TokenMatrix;
  advantages: TokenMatrix;
  /** 1 = the token counts, 0 = it does not. */
  mask: TokenMatrix;
}

/** Settings of the clipped surrogate. */
export interface PpoLossOptions extends AggregationOptions {
  /** The ratio is clipped to [1 − clipLow, 1 + clipHigh]. */
  clipLow: number;
  clipHigh: number;
  /** Dual clip: a token with a negative advantage A loses at most −dualClip·A (Ye et al. 2020). Above 1; default 3. */
  dualClip?: number;
  aggregation: LossAggregation;
}

/** A loss with its derivative and veRL's metrics. */
export interface PpoLoss {
  loss: number;
  /** d loss / d logprobs, `[sequences][tokens]`. */
  gradient: number[][];
  /** Share of tokens where clipping the ratio decided: `pg_clipfrac`. */
  clipFraction: number;
  /** Share of tokens where the dual clip decided: `pg_clipfrac_lower`. */
  dualClipFraction: number;
  /** Mean of old − new log-probability, log-ratios clamped to ±20: `ppo_kl`. */
  approximateKl: number;
}

interface TokenLoss {
  loss: number;
  /** d loss / d logprob. */
  slope: number;
  isClipped: boolean;
  isDualClipped: boolean;
}

const LOG_RATIO_LIMIT = 20;

/**
 * PPO's clipped surrogate with dual clip (verl 0.9.1 core_algos.py, compute_policy_loss).
 *
 * @throws {RangeError} if the shapes differ, or `dualClip` is not above 1
 */
export function ppoLoss(batch: PpoBatch, options: PpoLossOptions): PpoLoss {
  const { oldLogprobs, logprobs, advantages, mask } = batch;
  const { clipLow, clipHigh, dualClip = 3, aggregation } = options;
  requireSameShape("compute the PPO loss", logprobs, oldLogprobs, advantages, mask);
  if (!(dualClip > 1)) {
    throw new RangeError(`Cannot clip losses at ${dualClip} times the advantage: dualClip must be above 1`);
  }
  const tokens = logprobs.map((row, index) =>
    Array.from(
      row,
      (logprob, token) =>
        tokenLoss(logprob - oldLogprobs[index][token], advantages[index][token], clipLow, clipHigh, dualClip),
    )
  );
  const share = (has: (token: TokenLoss) => boolean) =>
    maskedMean(tokens.map((row) => row.map((token) => has(token) ? 1 : 0)), mask);
  const weights = aggregationWeights(mask, aggregation, options);
  return {
    loss: aggregateLoss(tokens.map((row) => row.map(({ loss }) => loss)), mask, aggregation, options),
    gradient: mapTokens(weights, (weight, row, token) => weight * tokens[row][token].slope),
    clipFraction: share(({ isClipped }) => isClipped),
    dualClipFraction: share(({ isDualClipped }) => isDualClipped),
    approximateKl: maskedMean(
      mapTokens(logprobs, (logprob, row, token) => -clampLogRatio(logprob - oldLogprobs[row][token])),
      mask,
    ),
  };
}

function tokenLoss(
  logRatio: number,
  advantage: number,
  clipLow: number,
  clipHigh: number,
  dualClip: number,
): TokenLoss {
  const clamped = clampLogRatio(logRatio);
  const ratio = Math.exp(clamped);
  const unclipped = -advantage * ratio;
  const clipped = -advantage * Math.max(1 - clipLow, Math.min(1 + clipHigh, ratio));
  const isClipped = clipped > unclipped;
  const surrogate = isClipped ? clipped : unclipped;
  const bound = -advantage * dualClip;
  const isDualClipped = advantage < 0 && surrogate > bound;
  // d ratio / d logprob is the ratio itself; a clamped log-ratio and a clipped loss are flat.
  const slope = isClipped || isDualClipped || clamped !== logRatio ? 0 : unclipped;
  return { loss: isDualClipped ? bound : surrogate, slope, isClipped, isDualClipped };
}

function clampLogRatio(logRatio: number): number {
  return Math.max(-LOG_RATIO_LIMIT, Math.min(LOG_RATIO_LIMIT, logRatio));
}
