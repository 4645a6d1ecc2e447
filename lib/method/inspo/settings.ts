/** How a new instruction is tried before it joins the population. */
export interface VerificationSettings {
  /** Held-out questions, the same for every candidate. */
  samples: number;
  /** 0 is greedy. */
  temperature: number;
  /**
   * What a candidate must at least reach: the lowest `survivor-weight`, or the worst survivor's score on the
   * same questions (`worst-survivor-verified`, which costs its rollouts).
   */
  threshold: "survivor-weight" | "worst-survivor-verified";
}

/** INSPO's settings. What the paper leaves open is our choice, see the recipe's README. */
export interface InspoSettings {
  /** N: most instructions in the population. */
  populationSize: number;
  /** τ_s: temperature of the softmax over weights. */
  samplingTemperature: number;
  /** α: rate of the weights' exponential average. */
  weightRate: number;
  /** K: steps between prunings; null keeps the first population for ever. */
  evolutionInterval: number | null;
  /** Candidates asked for at each reflection. */
  candidates: number;
  /** Failed trajectories shown at each reflection. */
  failuresPerReflection: number;
  /** Failures kept. */
  bufferCapacity: number;
  /** Whether new instructions are made from the top instruction or from all survivors. */
  parents: "top-1" | "survivors";
  /** Null lets every candidate in unseen, at its parent's weight. */
  verification: VerificationSettings | null;
}

/**
 * Verification with 200 samples for each candidate, as a third-party note tells of the paper; that they are held out is
 * inferred, greedy decoding and the threshold are our choice.
 */
export const PAPER_VERIFICATION: VerificationSettings = {
  samples: 200,
  temperature: 0,
  threshold: "worst-survivor-verified",
};

/** Verification at micro scale, where 200 samples a candidate would eat the whole budget. */
export const MICRO_VERIFICATION: VerificationSettings = { samples: 64, temperature: 1, threshold: "survivor-weight" };
