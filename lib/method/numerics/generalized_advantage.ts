import { maskedWhiten } from "./masked_statistics.ts";
import { mapTokens, requireSameShape } from "./token_matrix.ts";
import type { TokenMatrix } from "./token_matrix.ts";

/** What a critic's update and a policy's update learn from; all `[sequences][tokens]`. */
export interface GeneralizedAdvantage {
  /** Advantages as estimated. */
  advantages: number[][];
  /** Whitened over the unmasked tokens: what veRL hands to the policy loss. */
  whitened: number[][];
  /** Advantages plus values: the critic's target. */
  returns: number[][];
}

/**
 * Generalised advantage estimation (Schulman et al. 2016; verl 0.9.1 core_algos.py, compute_gae_advantage_return).
 * Masked tokens (tool output, padding) are passed over: value and advantage behind them carry on.
 *
 * @param rewards `[sequences][tokens]`
 * @param values `[sequences][tokens]`, the critic's predictions
 * @param mask `[sequences][tokens]` of 0 and 1
 * @param gamma discount, in [0, 1]
 * @param lambda bias against variance, in [0, 1]
 * @throws {RangeError} if fewer than two tokens are unmasked, or the shapes differ
 */
export function generalizedAdvantage(
  rewards: TokenMatrix,
  values: TokenMatrix,
  mask: TokenMatrix,
  gamma: number,
  lambda: number,
): GeneralizedAdvantage {
  requireSameShape("estimate advantages", rewards, values, mask);
  const advantages = rewards.map((row, index) => sequenceAdvantages(row, values[index], mask[index], gamma, lambda));
  return {
    advantages,
    whitened: maskedWhiten(advantages, mask),
    returns: mapTokens(advantages, (advantage, row, token) => advantage + values[row][token]),
  };
}

function sequenceAdvantages(
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  mask: ArrayLike<number>,
  gamma: number,
  lambda: number,
): number[] {
  const advantages = new Array<number>(rewards.length).fill(0);
  let nextValue = 0;
  let nextAdvantage = 0;
  for (let token = rewards.length - 1; token >= 0; token--) {
    const delta = rewards[token] + gamma * nextValue - values[token];
    const unmasked = mask[token];
    nextValue = values[token] * unmasked + nextValue * (1 - unmasked);
    nextAdvantage = (delta + gamma * lambda * nextAdvantage) * unmasked + nextAdvantage * (1 - unmasked);
    advantages[token] = nextAdvantage;
  }
  return advantages;
}
