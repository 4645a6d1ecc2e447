import { normalizeAnswer } from "./normalize_answer.ts";

/**
 * Sub-exact match: 1 if any gold answer occurs inside the prediction after normalising, else 0 (Search-R1 qa_em.py,
 * `subem_check`). The comparison is by characters, so `art` occurs in `party`, and an empty gold answer occurs in
 * everything.
 */
export function subExactMatch(prediction: string, golds: readonly string[]): 0 | 1 {
  const normalized = normalizeAnswer(prediction);
  return golds.some((gold) => normalized.includes(normalizeAnswer(gold))) ? 1 : 0;
}
