import type { MicroTokenizer } from "../../../lib/engine/micro/tokenizer.ts";

/** Tokens are numbers with blanks between them. */
export function numberTokenizer(vocabulary: number): MicroTokenizer {
  return {
    vocabulary,
    encode: (text) => Int32Array.from(text.split(" ").filter((word) => word !== ""), Number),
    decode: (tokens) => tokens.join(" "),
    applyTemplate: (messages) => messages.map(({ content }) => content).join(" "),
  };
}
