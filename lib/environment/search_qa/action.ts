/** What a turn asks for. */
export type Action =
  | { kind: "search"; query: string }
  | { kind: "answer"; answer: string }
  | { kind: "invalid" };

const ACTION = /<(search|answer)>([\s\S]*?)<\/\1>/;

/** The first complete `<search>…</search>` or `<answer>…</answer>` of a turn (Search-R1, postprocess_predictions). */
export function parseAction(turn: string): Action {
  const match = ACTION.exec(turn);
  if (match === null) return { kind: "invalid" };
  const content = match[2].trim();
  return match[1] === "search" ? { kind: "search", query: content } : { kind: "answer", answer: content };
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
