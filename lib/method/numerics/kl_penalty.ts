/**
 * Estimators of KL(policy ‖ reference) from one sampled token, with d = ℓ − ℓ_ref
 * (J. Schulman, "Approximating KL divergence"; verl 0.9.1 core_algos.py, kl_penalty):
 *
 * - `k1`: d, unbiased. `abs`: |d|. `k2`: d²/2.
 * - `k3`: e^(−d) + d − 1, veRL's `low_var_kl`; −d is clamped to ±20 and the result to ±10.
 * - `k1+`, `k3+`: the value of `k1` or `k3` with the gradient of `k2` (straight-through), which is the unbiased one.
 */
export type KlEstimator = "k1" | "abs" | "k2" | "k3" | "k1+" | "k3+";

/** An estimate and its derivative with respect to the policy's log-probability. */
export interface KlPenalty {
  value: number;
  gradient: number;
}

const LOG_RATIO_LIMIT = 20;
const K3_LIMIT = 10;

/**
 * One token's KL penalty.
 *
 * @param logprob log π(token), of the policy that is being trained
 * @param reference log π_ref(token)
 */
export function klPenalty(logprob: number, reference: number, estimator: KlEstimator): KlPenalty {
  const difference = logprob - reference;
  switch (estimator) {
    case "k1":
      return { value: difference, gradient: 1 };
    case "abs":
      return { value: Math.abs(difference), gradient: Math.sign(difference) };
    case "k2":
      return { value: difference ** 2 / 2, gradient: difference };
    case "k3":
      return k3(difference);
    case "k1+":
      return { value: difference, gradient: difference };
    case "k3+":
      return { value: k3(difference).value, gradient: difference };
  }
}

/** A clamped value has no gradient. */
function k3(difference: number): KlPenalty {
  const logRatio = Math.max(-LOG_RATIO_LIMIT, Math.min(LOG_RATIO_LIMIT, -difference));
  const ratio = Math.exp(logRatio);
  const value = ratio - logRatio - 1;
  if (value > K3_LIMIT) return { value: K3_LIMIT, gradient: 0 };
  return { value, gradient: logRatio === -difference ? 1 - ratio : 0 };
}
