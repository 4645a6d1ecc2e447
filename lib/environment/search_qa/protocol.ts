import type { ContextWindow } from "../engine_policy.ts";

/**
 * Everything about the search-QA environment that can change a score. Each of Search-R1's known traps is an option
 * named after what it does; {@link SEARCH_R1_PROTOCOL} has its behaviour, {@link SEARCH_QA_PROTOCOL} the sane one.
 */
export interface SearchQaProtocol {
  /** Turns in which the policy may search; Search-R1 `max_turns`. */
  maxTurns: number;
  /** After `maxTurns`, one more generation whose search would go unanswered, to force an answer (Search-R1 issue 167). */
  forcedFinalTurn: boolean;
  /** Most tokens the policy writes in a turn; Search-R1 `max_response_length`. */
  maxTurnTokens: number;
  /** Most tokens of a tool's reply; Search-R1 `max_obs_length`. */
  maxObservationTokens: number;
  /**
   * A longer reply is cut: `keep-closing-tag` shortens the passages and closes the block, `drop-closing-tag` cuts the
   * finished text on the right, so that `</information>` is lost (Search-R1).
   */
  longObservation: "keep-closing-tag" | "drop-closing-tag";
  /**
   * `stop-at-action`: sampling stops behind `</search>` or `</answer>`. `cut-afterwards`: the model writes on; the text
   * is then cut behind the first `</search>` if there is one, else behind the first `</answer>`, and tokenised again.
   * A text with `</answer>` before `</search>` keeps both and counts as an answer (Search-R1).
   */
  turnEnd: "stop-at-action" | "cut-afterwards";
  /** Most tokens of prompt and turns that the policy reads; null: as many as the model can. Search-R1: 4,096. */
  maxContextTokens: number | null;
  /** A longer context ends the trajectory, or loses its oldest tokens, the instruction first (Search-R1). */
  longContext: ContextWindow["overflow"];
  /** Passages for each query. */
  topK: number;
  /** `search-r1`: `Doc 1(Title: "…") …`; `contents`: title and text as words. */
  passageFormat: "search-r1" | "contents";
  /** What the environment says to a turn without action. */
  invalidActionText: string;
  /**
   * What is scored. `own-answer`: the answer that ended the trajectory. `response`: the last tag pair of everything
   * behind the prompt, passages and complaints included (veRL's search_r1_like_qa_em). `prompt-and-response`: that of
   * both together (Search-R1), so that an instruction's examples, and the "<answer> and </answer>" of the complaint
   * about an invalid action, can be scored as if they were answers.
   */
  answerScope: "own-answer" | "response" | "prompt-and-response";
  /** Fewer tag pairs than this score 0, except with `own-answer`. Search-R1 needs 2, which counts its prompt's example. */
  minimumAnswerTags: 1 | 2;
  /**
   * What makes rollouts one advantage group: `task-and-conditioning`, or the `row-number` within the source set, which
   * mixes row k of NQ with row k of HotpotQA, and instructions within a group (Search-R1's uid).
   */
  groupKey: "task-and-conditioning" | "row-number";
}

/** The sentence Search-R1 answers a turn without action with (generation.py). */
export const SEARCH_R1_INVALID_ACTION =
  "\nMy previous action is invalid. If I want to search, I should put the query between <search> and </search>. " +
  "If I want to give the final answer, I should put the answer between <answer> and </answer>. Let me try again.\n";

/** Search-R1's loop without its traps: coevo's default for real text. */
export const SEARCH_QA_PROTOCOL: SearchQaProtocol = {
  maxTurns: 4,
  forcedFinalTurn: true,
  maxTurnTokens: 500,
  maxObservationTokens: 500,
  longObservation: "keep-closing-tag",
  turnEnd: "stop-at-action",
  maxContextTokens: null,
  longContext: "stop",
  topK: 3,
  passageFormat: "search-r1",
  invalidActionText: SEARCH_R1_INVALID_ACTION,
  answerScope: "own-answer",
  minimumAnswerTags: 1,
  groupKey: "task-and-conditioning",
};

/**
 * What Search-R1 does at commit a14dc3a (v0.2 training scripts, generation.py, qa_em.py, ray_trainer.py).
 *
 * Not reproduced: the left cut of prompts to 2,048 tokens, and log-probabilities of the whole rolling context where that
 * was cut (we learn from the first tokens that fit the model, as Search-R1 does from the first 4,096 of a response).
 */
export const SEARCH_R1_PROTOCOL: SearchQaProtocol = {
  ...SEARCH_QA_PROTOCOL,
  longObservation: "drop-closing-tag",
  turnEnd: "cut-afterwards",
  maxContextTokens: 4096,
  longContext: "cut-left",
  answerScope: "prompt-and-response",
  minimumAnswerTags: 2,
  groupKey: "row-number",
};
