import { exactMatch } from "./exact_match.ts";
import { extractAnswer } from "./extract_answer.ts";
import type { AnswerSource } from "./extract_answer.ts";
import { subExactMatch } from "./sub_exact_match.ts";
import { countTag } from "./tagged_blocks.ts";

/** How a rollout's answer becomes a reward. */
export interface AnswerRewardOptions {
  /** `exact`: equality after normalising; `sub-exact`: the gold answer occurs in the prediction. Default `exact`. */
  match?: "exact" | "sub-exact";
  /** Reward of a wrong answer that could be extracted; default 0. */
  wrongAnswerReward?: number;
  /** A right answer's reward is divided by 4 when the text has more opening, or more closing, answer tags than this. */
  quarteredAboveTags?: number;
}

/**
 * Reward of a rollout's final answer: 1 if right, `wrongAnswerReward` if wrong, 0 if there is none.
 *
 * Search-R1 qa_em.py (`compute_score_em`, `compute_score_subem`) is `scope: "prompt-and-response"`,
 * `minimumAnswerTags: 2`; verl 0.9.1 search_r1_like_qa_em.py (`compute_score`) is `scope: "response"`,
 * `minimumAnswerTags: 1`, `quarteredAboveTags: 10`.
 */
export function answerReward(
  source: AnswerSource,
  golds: readonly string[],
  options: AnswerRewardOptions = {},
): number {
  const { match = "exact", wrongAnswerReward = 0, quarteredAboveTags = Infinity } = options;
  const answer = extractAnswer(source);
  if (answer === null) return 0;
  const isRight = (match === "exact" ? exactMatch : subExactMatch)(answer, golds) === 1;
  if (!isRight) return wrongAnswerReward;
  const text = source.scope === "response" ? source.response : source.prompt + source.response;
  const tags = Math.max(countTag(text, "<answer>"), countTag(text, "</answer>"));
  return tags > quarteredAboveTags ? 1 / 4 : 1;
}
