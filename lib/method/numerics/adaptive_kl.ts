/** Where an adaptive KL coefficient is steered. */
export interface AdaptiveKlSettings {
  /** The KL to hold. */
  target: number;
  /** Samples over which the coefficient reacts; larger is slower. */
  horizon: number;
}

/**
 * The KL coefficient after a batch: raised where the measured KL is above the target, lowered where it is below, by a
 * relative error clipped to ±0.2 (Ziegler et al. 2019; verl 0.9.1 core_algos.py, AdaptiveKLController.update).
 *
 * @param coefficient the coefficient before the batch
 * @param kl measured in the batch
 * @param samples in the batch
 */
export function adaptKlCoefficient(
  coefficient: number,
  kl: number,
  samples: number,
  settings: AdaptiveKlSettings,
): number {
  const error = Math.max(-0.2, Math.min(0.2, kl / settings.target - 1));
  return coefficient * (1 + error * samples / settings.horizon);
}
