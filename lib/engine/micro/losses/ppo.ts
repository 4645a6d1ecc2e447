import type { TokenLosses } from "./token_losses.ts";

/** Bounds of the PPO surrogate. */
export interface PpoSettings {
  /** Ratios are clipped to [1 − clipLow, 1 + clipHigh]. */
  clipLow: number;
  clipHigh: number;
  /** Above 1: with a negative advantage A the loss is at most −dualClip · A (Ye et al. 2020); default: no bound. */
  dualClip?: number;
}

/** The surrogate of every token. */
export interface PpoTokens extends TokenLosses {
  /** exp(logprob − old), the log clamped to ±20. */
  ratio: Float64Array;
  /** 1 where the clipped branch is the loss. */
  isClipped: Uint8Array;
  /** 1 where the dual clip is. */
  isDualClipped: Uint8Array;
}

const LARGEST_LOG_RATIO = 20; // veRL core_algos.py compute_policy_loss

/**
 * −min(ρA, clip(ρ)A) of every token, with A < 0 bounded by the dual clip; as veRL's `compute_policy_loss` before
 * aggregation.
 *
 * @param logprobs under the current weights
 * @param old at sampling time
 */
export function ppoTokens(
  logprobs: ArrayLike<number>,
  old: ArrayLike<number>,
  advantages: ArrayLike<number>,
  { clipLow, clipHigh, dualClip = Infinity }: PpoSettings,
): PpoTokens {
  const size = logprobs.length;
  const [loss, gradient, ratio] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  const [isClipped, isDualClipped] = [new Uint8Array(size), new Uint8Array(size)];
  for (let t = 0; t < size; t++) {
    const difference = logprobs[t] - old[t];
    const isSaturated = Math.abs(difference) > LARGEST_LOG_RATIO;
    const rho = Math.exp(Math.max(-LARGEST_LOG_RATIO, Math.min(LARGEST_LOG_RATIO, difference)));
    const advantage = advantages[t];
    const plain = -advantage * rho;
    const clipped = -advantage * Math.max(1 - clipLow, Math.min(1 + clipHigh, rho));
    const bound = advantage < 0 ? -advantage * dualClip : Infinity;
    isClipped[t] = clipped > plain ? 1 : 0;
    isDualClipped[t] = Math.max(plain, clipped) > bound ? 1 : 0;
    loss[t] = Math.min(Math.max(plain, clipped), bound);
    gradient[t] = isClipped[t] || isDualClipped[t] || isSaturated ? 0 : plain;
    ratio[t] = rho;
  }
  return { loss, gradient, ratio, isClipped, isDualClipped };
}
