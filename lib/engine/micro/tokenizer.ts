import type { Message } from "../engine.ts";

/** How an embedded model reads and writes text. */
export interface MicroTokenizer {
  /** Number of token ids; ids are 0 … vocabulary − 1. */
  vocabulary: number;
  /** Tokens of a text as it stands, without template. */
  encode(text: string): Int32Array;
  /** The text of tokens. */
  decode(tokens: Int32Array): string;
  /** A conversation as one text, generation prompt included; `encode` reads it. */
  applyTemplate(messages: readonly Message[]): string;
}
