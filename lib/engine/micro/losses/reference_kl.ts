import type { TokenLosses } from "./token_losses.ts";

const LARGEST_LOG_RATIO = 20;
const LARGEST_VALUE = 10;

/**
 * The k3 estimator exp(r − ℓ) − (r − ℓ) − 1 of KL(policy ‖ reference) (Schulman 2020), with veRL's clamps
 * (`kl_penalty`, `low_var_kl`): the log-ratio to ±20, the value to ±10.
 *
 * @param logprobs ℓ, under the current weights
 * @param reference r, under the reference
 */
export function k3Tokens(logprobs: ArrayLike<number>, reference: ArrayLike<number>): TokenLosses {
  const loss = new Float64Array(logprobs.length);
  const gradient = new Float64Array(logprobs.length);
  for (let t = 0; t < logprobs.length; t++) {
    const difference = reference[t] - logprobs[t];
    const clamped = Math.max(-LARGEST_LOG_RATIO, Math.min(LARGEST_LOG_RATIO, difference));
    const estimate = Math.exp(clamped) - clamped - 1;
    const isSaturated = clamped !== difference || estimate > LARGEST_VALUE;
    loss[t] = Math.min(LARGEST_VALUE, estimate);
    gradient[t] = isSaturated ? 0 : 1 - Math.exp(clamped);
  }
  return { loss, gradient };
}
