/** What a turn asks for. */
export type Action =
  | { kind: "search"; query: string }
  | { kind: "answer"; answer: string }
  | { kind: "invalid" };

/**
 * The first complete `<search>…</search>` or `<answer>…</answer>` of a turn: Search-R1's
 * `<(search|answer)>(.*?)</\1>` with DOTALL (postprocess_predictions), in linear time on hostile text.
 */
export function parseAction(turn: string): Action {
  const search = firstBlock(turn, "search");
  const answer = firstBlock(turn, "answer");
  if (search !== null && (answer === null || search.start < answer.start)) {
    return { kind: "search", query: search.content };
  }
  return answer === null ? { kind: "invalid" } : { kind: "answer", answer: answer.content };
}

function firstBlock(turn: string, tag: string): { start: number; content: string } | null {
  const start = turn.indexOf(`<${tag}>`);
  if (start < 0) return null;
  const end = turn.indexOf(`</${tag}>`, start);
  return end < 0 ? null : { start, content: turn.slice(start + tag.length + 2, end).trim() };
}

/**
 * Cuts a turn as Search-R1 does: behind the first `</search>` if there is one, else behind the first `</answer>`.
 */
export function cutTurn(turn: string): string {
  for (const tag of ["</search>", "</answer>"]) {
    const end = turn.indexOf(tag);
    if (end >= 0) return turn.slice(0, end + tag.length);
  }
  return turn;
}
