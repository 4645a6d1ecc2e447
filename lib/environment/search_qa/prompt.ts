import type { Message } from "../../engine/engine.ts";

/**
 * Search-R1's static instruction: the "base" template of scripts/data_process at commit a14dc3a, which base and
 * instruct models share.
 *
 * It holds one example answer and names the tags once ("<answer> and </answer>"). Search-R1's scorer counts both as
 * answers, so with its `answerScope` a response without any answer is scored on "Beijing".
 */
export const SEARCH_R1_INSTRUCTION =
  "Answer the given question. You must conduct reasoning inside <think> and </think> first every time you get new " +
  "information. After reasoning, if you find you lack some knowledge, you can call a search engine by " +
  "<search> query </search> and it will return the top searched results between <information> and </information>. " +
  "You can search as many times as your want. If you find no further external knowledge needed, you can directly " +
  "provide the answer inside <answer> and </answer>, without detailed illustrations. For example, " +
  "<answer> Beijing </answer>.";

/**
 * The prompt: one user turn of instruction and question, no system turn of its own (Search-R1). The question is
 * stripped and gets a `?` if it does not end with one (scripts/data_process).
 */
export function searchQaPrompt(instruction: string, question: string): Message[] {
  const stripped = question.trim();
  const asked = stripped.endsWith("?") ? stripped : `${stripped}?`;
  return [{ role: "user", content: `${instruction} Question: ${asked}\n` }];
}
