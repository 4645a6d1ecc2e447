import { taggedBlocks } from "./tagged_blocks.ts";

/** A rollout and where to look for its answer. */
export interface AnswerSource {
  prompt: string;
  /** Everything behind the prompt, tool output included. */
  response: string;
  /** Which text is searched for answer tags. Search-R1's scorer reads both together, veRL's only the response. */
  scope: "response" | "prompt-and-response";
  /**
   * With fewer `<answer>…</answer>` pairs there is no answer. Search-R1 needs 2, because the instruction in its prompt
   * shows one as an example; veRL needs 1.
   */
  minimumAnswerTags: 1 | 2;
}

/**
 * The content of the last `<answer>…</answer>` pair, stripped, or null if there are too few (Search-R1 qa_em.py and
 * verl 0.9.1 search_r1_like_qa_em.py, `extract_solution`).
 *
 * The last pair counts wherever it stands, also inside a retrieved passage.
 */
export function extractAnswer({ prompt, response, scope, minimumAnswerTags }: AnswerSource): string | null {
  const answers = taggedBlocks(scope === "response" ? response : prompt + response, "answer");
  return answers.length < minimumAnswerTags ? null : answers[answers.length - 1];
}
