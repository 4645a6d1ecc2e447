import type { MicroTokenizer } from "./tokenizer.ts";

/** Whether a sample ends with its last token. @param tokens room for the sample, of which `length` are written */
export type StopCondition = (tokens: Int32Array, length: number) => boolean;

/**
 * Ends a sample whose text ends with one of the stop texts.
 *
 * A stop text that is a token of its own is looked up by id; any other costs decoding the sample after every token.
 */
export function stopCondition(tokenizer: MicroTokenizer, stop: readonly string[] = []): StopCondition {
  const ids = new Set<number>();
  const texts: string[] = [];
  for (const text of stop) {
    if (text === "") throw new RangeError("Cannot stop at an empty text: every sample ends with it");
    const tokens = tokenizer.encode(text);
    if (tokens.length === 1 && tokenizer.decode(tokens) === text) ids.add(tokens[0]);
    else texts.push(text);
  }
  if (texts.length === 0) return (tokens, length) => ids.has(tokens[length - 1]);
  return (tokens, length) => {
    if (ids.has(tokens[length - 1])) return true;
    const written = tokenizer.decode(tokens.subarray(0, length));
    return texts.some((text) => written.endsWith(text));
  };
}
