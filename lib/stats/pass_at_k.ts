import { mean, sampleVariance } from "./mean.ts";

/**
 * Unbiased pass@k, 1 − C(n−c, k)/C(n, k): the chance that k of n samples, drawn without replacement, hold a correct one
 * (Chen et al. 2021; openai/human-eval evaluation.py).
 *
 * @param samples n, whole number ≥ 1
 * @param correct c, whole number in [0, n]
 * @param k whole number ≥ 1
 * @throws {RangeError} if a number is out of range
 */
export function passAtK(samples: number, correct: number, k: number): number {
  if (!(correct >= 0 && correct <= samples && k >= 1)) {
    throw new RangeError(
      `Cannot compute pass@${k} of ${correct} correct in ${samples} samples: need 0 ≤ correct ≤ samples and k ≥ 1`,
    );
  }
  if (samples - correct < k) return 1;
  let allWrong = 1;
  for (let i = samples - correct + 1; i <= samples; i++) allWrong *= 1 - k / i;
  return 1 - allWrong;
}

/** Average accuracy over k samples of each question, with its two errors. */
export interface AverageAtK {
  mean: number;
  /** Standard error for new questions; NaN for one question. */
  questionError: number;
  /** Standard error for a re-run on the same questions; NaN for one sample. */
  rerunError: number;
  /** Mean variance p(1−p) inside a question, unbiased. */
  withinVariance: number;
  /** Variance of p between questions, at least 0. */
  betweenVariance: number;
}

/**
 * avg@k with questions as clusters (Miller 2024, "Adding error bars to evals"): more samples a question shrink only the
 * re-run error.
 *
 * @param correct number of correct samples, one for each question
 * @param k samples of each question, whole number ≥ 1
 * @throws {RangeError} if there are no questions, or a count is not in [0, k]
 */
export function averageAtK(correct: readonly number[], k: number): AverageAtK {
  if (correct.length === 0) throw new RangeError("Cannot average over no questions");
  const invalid = correct.find((count) => !(count >= 0 && count <= k));
  if (invalid !== undefined) {
    throw new RangeError(`Cannot average ${invalid} correct of ${k} samples: need a count from 0 to ${k}`);
  }
  const shares = correct.map((count) => count / k);
  const variance = sampleVariance(shares);
  const withinVariance = k > 1 ? mean(shares.map((share) => share * (1 - share))) / (k - 1) : NaN;
  return {
    mean: mean(shares),
    questionError: Math.sqrt(variance / shares.length),
    rerunError: Math.sqrt(withinVariance / shares.length),
    withinVariance,
    betweenVariance: Math.max(0, variance - withinVariance),
  };
}
