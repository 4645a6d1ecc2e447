import type { Message } from "../../engine/engine.ts";
import type { MicroTokenizer } from "../../engine/micro/tokenizer.ts";
import { VOCABULARY } from "./vocabulary.ts";

const BOS = VOCABULARY.indexOf("<bos>");
const UNKNOWN = VOCABULARY.indexOf("<unk>");
const IDS: ReadonlyMap<string, number> = new Map(VOCABULARY.map((word, id) => [word, id]));

/** A tag, a question mark, or a run of anything else but white space. */
const WORD = /<\/?[a-z]+>|\?|[^\s?<]+|</g;

/**
 * The micro world's tokenizer: one token a word, tags and `?` on their own, `<unk>` for every word outside the
 * vocabulary.
 *
 * Its chat template is `<bos>` and the contents of the messages one after another.
 */
export const hopSearchTokenizer: MicroTokenizer = {
  vocabulary: VOCABULARY.length,
  encode,
  decode: (tokens) => Array.from(tokens, (id) => VOCABULARY[id] ?? "<unk>").join(" "),
  applyTemplate: (messages: readonly Message[]) => `<bos> ${messages.map((message) => message.content).join(" ")}`,
};

function encode(text: string): Int32Array {
  const words = text.match(WORD) ?? [];
  return Int32Array.from(words, (word) => word === "<bos>" ? BOS : IDS.get(word) ?? UNKNOWN);
}

/** The words of a text that the micro policy cannot read. */
export function unknownWords(text: string): string[] {
  return (text.match(WORD) ?? []).filter((word) => !IDS.has(word));
}
