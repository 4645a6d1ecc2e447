import { normalizeAnswer } from "./normalize_answer.ts";

/**
 * Exact match: 1 if the prediction equals any gold answer after normalising, else 0 (Search-R1 qa_em.py, `em_check`).
 *
 * @param golds accepted answers; with none the score is 0
 */
export function exactMatch(prediction: string, golds: readonly string[]): 0 | 1 {
  const normalized = normalizeAnswer(prediction);
  return golds.some((gold) => normalizeAnswer(gold) === normalized) ? 1 : 0;
}
