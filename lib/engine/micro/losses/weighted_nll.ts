import type { TokenLosses } from "./token_losses.ts";

/** −weight · ℓ of every token. */
export function weightedNllTokens(logprobs: ArrayLike<number>, weights: ArrayLike<number>): TokenLosses {
  const loss = new Float64Array(logprobs.length);
  const gradient = new Float64Array(logprobs.length);
  for (let t = 0; t < loss.length; t++) {
    loss[t] = -weights[t] * logprobs[t];
    gradient[t] = -weights[t];
  }
  return { loss, gradient };
}
