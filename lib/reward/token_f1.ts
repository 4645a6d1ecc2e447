import { normalizeAnswer } from "./normalize_answer.ts";

/** Overlap of a prediction's words with a gold answer's; all in [0, 1]. */
export interface TokenOverlap {
  f1: number;
  precision: number;
  recall: number;
}

/**
 * How the published scorers treat special answers:
 * - `squad-v1`: no special case; an empty side scores 0.
 * - `squad-v2`: an empty side scores 1 if both are empty (the unanswerable question), else 0.
 * - `hotpot`: where either side is `yes`, `no` or `noanswer`, anything but equality scores 0.
 */
export type F1Variant = "squad-v1" | "squad-v2" | "hotpot";

const NONE: TokenOverlap = { f1: 0, precision: 0, recall: 0 };
const CLOSED_ANSWERS = new Set(["yes", "no", "noanswer"]);

/**
 * Bag-of-words F1 of the prediction with the best-matching gold answer, after {@link normalizeAnswer} (SQuAD v1.1 and
 * v2.0 evaluate.py, HotpotQA hotpot_evaluate_v1.py). Ties in F1 go to the higher precision, then recall.
 */
export function tokenF1(prediction: string, golds: readonly string[], variant: F1Variant = "squad-v1"): TokenOverlap {
  const normalized = normalizeAnswer(prediction);
  return golds.map((gold) => overlap(normalized, normalizeAnswer(gold), variant)).reduce(better, NONE);
}

function overlap(prediction: string, gold: string, variant: F1Variant): TokenOverlap {
  const isClosed = CLOSED_ANSWERS.has(prediction) || CLOSED_ANSWERS.has(gold);
  if (variant === "hotpot" && isClosed && prediction !== gold) return NONE;
  const predicted = words(prediction);
  const wanted = words(gold);
  if (variant === "squad-v2" && (predicted.length === 0 || wanted.length === 0)) {
    const both = predicted.length === wanted.length ? 1 : 0;
    return { f1: both, precision: both, recall: both };
  }
  const shared = sharedWords(predicted, wanted);
  if (shared === 0) return NONE;
  const precision = shared / predicted.length;
  const recall = shared / wanted.length;
  return { f1: (2 * precision * recall) / (precision + recall), precision, recall };
}

function words(normalized: string): string[] {
  return normalized === "" ? [] : normalized.split(" ");
}

/** Size of the multiset intersection. */
function sharedWords(predicted: readonly string[], wanted: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of predicted) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    shared++;
    left.set(word, count - 1);
  }
  return shared;
}

function better(best: TokenOverlap, other: TokenOverlap): TokenOverlap {
  const difference = other.f1 - best.f1 || other.precision - best.precision || other.recall - best.recall;
  return difference > 0 ? other : best;
}
