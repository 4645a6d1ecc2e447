import { expect, test } from "vitest";
import { INSTRUCTION_WORDS } from "../../lib/environment/hop_search/vocabulary.ts";
import { checkWords, wordConstraints } from "../../recipes/inspo/check_words.ts";

test("checkWords() takes every word of the list, up to the longest instruction, and writes it with single spaces", () => {
  for (const word of INSTRUCTION_WORDS) expect(checkWords(word, 1)).toEqual({ ok: true, text: word });
  expect(checkWords("  step \n only ", 2)).toEqual({ ok: true, text: "step only" });
});

test.each([
  ["", "empty"],
  ["please wibble", "wibble"],
  ["please carefully think well now search", "6 words"],
])("checkWords(%j) refuses", (text, part) => {
  const check = checkWords(text, 5);
  expect(check.ok).toBe(false);
  expect(check.ok ? "" : check.reason).toContain(part);
});

test("wordConstraints() tells a reflector the words and the limit that checkWords() holds it to", () => {
  const text = wordConstraints(5).join(" ");
  for (const word of INSTRUCTION_WORDS) expect(text).toContain(word);
  expect(text).toContain("at most 5 words");
});
