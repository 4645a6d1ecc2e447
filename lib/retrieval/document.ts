/**
 * A passage in the layout of Search-R1's corpora (`wiki-18.jsonl`): the first line of `contents` is the title in double
 * quotes, the other lines are the text.
 */
export interface Document {
  /** The corpus's own name for the passage; empty where a search server sends none. */
  id: string;
  /** `"Title"`, a newline, the text. */
  contents: string;
}

/** The title: the first line of the contents without its surrounding double quotes. */
export function titleOf(document: Document): string {
  const line = firstLine(document.contents);
  return line.length >= 2 && line.startsWith('"') && line.endsWith('"') ? line.slice(1, -1) : line;
}

/** The text: everything behind the first line of the contents; empty for contents of one line. */
export function textOf(document: Document): string {
  const end = document.contents.indexOf("\n");
  return end < 0 ? "" : document.contents.slice(end + 1);
}

/** Everything before the first newline. */
export function firstLine(contents: string): string {
  const end = contents.indexOf("\n");
  return end < 0 ? contents : contents.slice(0, end);
}
