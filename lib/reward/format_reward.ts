import { exactMatch } from "./exact_match.ts";
import { extractAnswer } from "./extract_answer.ts";
import { normalizeAnswer } from "./normalize_answer.ts";
import { taggedBlocks } from "./tagged_blocks.ts";
import { checkTurnSequence } from "./turn_sequence.ts";

/** Parts of the format reward. */
export interface FormatRewardOptions {
  /** For keeping the order of blocks; default 0.2. */
  structureReward?: number;
  /** For an extractable but wrong answer in a text that breaks the order; default 0.1. */
  finalAnswerReward?: number;
  /** On top of `structureReward`, where a retrieved passage holds a gold answer; default 0. */
  retrievalReward?: number;
}

/** Whether any `<information>` block holds any gold answer, after normalising (qa_em_format.py, `is_retrieval_correct`). */
export function retrievedGold(text: string, golds: readonly string[]): boolean {
  const normalizedGolds = golds.map(normalizeAnswer);
  return taggedBlocks(text, "information").map(normalizeAnswer).some((block) =>
    normalizedGolds.some((gold) => block.includes(gold))
  );
}

/**
 * Search-R1 v0.3's reward for answer and format (qa_em_format.py, `compute_score_em`):
 *
 * | | order kept | order broken |
 * |---|---|---|
 * | right answer | 1 | 1 − structure |
 * | wrong answer | structure (+ retrieval) | finalAnswer |
 * | no answer | structure (+ retrieval) | 0 |
 *
 * @param text prompt and response; like Search-R1 it takes two answer pairs, one of them the prompt's example
 */
export function formatReward(text: string, golds: readonly string[], options: FormatRewardOptions = {}): number {
  const { structureReward = 0.2, finalAnswerReward = 0.1, retrievalReward = 0 } = options;
  const { isValid } = checkTurnSequence(text);
  const answer = extractAnswer({ prompt: "", response: text, scope: "response", minimumAnswerTags: 2 });
  if (answer !== null && exactMatch(answer, golds) === 1) return isValid ? 1 : 1 - structureReward;
  if (isValid) return retrievedGold(text, golds) ? structureReward + retrievalReward : structureReward;
  return answer === null ? 0 : finalAnswerReward;
}
