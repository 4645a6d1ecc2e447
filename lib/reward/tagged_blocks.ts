import { stripWhitespace } from "./python_whitespace.ts";

/**
 * The contents of all `<tag>…</tag>` pairs, stripped, in order. A pair reaches from an opening tag to the next closing
 * one, so further opening tags belong to the content (Python `re.findall("<tag>(.*?)</tag>", text, re.DOTALL)`).
 * Takes linear time, also on text full of unclosed tags.
 */
export function taggedBlocks(text: string, tag: string): string[] {
  const open = `<${tag}>`;
  const close = `</${tag}>`;
  const blocks: string[] = [];
  let from = 0;
  while (true) {
    const start = text.indexOf(open, from);
    if (start < 0) return blocks;
    const end = text.indexOf(close, start + open.length);
    if (end < 0) return blocks;
    blocks.push(stripWhitespace(text.slice(start + open.length, end)));
    from = end + close.length;
  }
}

/** How often a tag, written as it stands in the text (`<answer>`), occurs. */
export function countTag(text: string, tag: string): number {
  return text.split(tag).length - 1;
}
