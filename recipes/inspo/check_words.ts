import { wordsOf } from "../../lib/reflector/word_edits.ts";
import { INSTRUCTION_WORDS } from "../../lib/environment/hop_search/vocabulary.ts";

/** Rules of a hop-search instruction, in words. */
export function wordConstraints(longest: number): string[] {
  return [
    `Use only words of this list, separated by spaces: ${INSTRUCTION_WORDS.join(", ")}.`,
    `Use at most ${longest} words and no punctuation.`,
  ];
}

/** Whether the micro policy can read an instruction. */
export function checkWords(text: string, longest: number): { ok: true; text: string } | { ok: false; reason: string } {
  const words = wordsOf(text);
  const unknown = words.find((word) => !(INSTRUCTION_WORDS as readonly string[]).includes(word));
  if (words.length === 0) return { ok: false, reason: "it is empty" };
  if (unknown !== undefined) {
    return { ok: false, reason: `the policy does not know the word ${JSON.stringify(unknown.slice(0, 40))}` };
  }
  if (words.length > longest) {
    return { ok: false, reason: `it has ${words.length} words; the policy reads at most ${longest}` };
  }
  return { ok: true, text: words.join(" ") };
}
