import { expect, test } from "vitest";
import { randomStream } from "../../lib/random/stream.ts";
import { createTermDictionary } from "../../lib/retrieval/term_dictionary.ts";

test("createTermDictionary() numbers words as a Map does, through many growths", () => {
  const dictionary = createTermDictionary();
  const map = new Map<string, number>();
  const stream = randomStream("term_dictionary.test");
  for (let i = 0; i < 60_000; i++) {
    const word = String.fromCodePoint(97 + stream.below(26)) + stream.below(20_000).toString(36);
    if (dictionary.find(word) !== (map.get(word) ?? -1)) expect.fail(`find("${word}") is not ${map.get(word)}`);
    if (!map.has(word)) map.set(word, map.size);
    if (dictionary.add(word) !== map.get(word)) expect.fail(`add("${word}") is not ${map.get(word)}`);
  }
  expect(dictionary.size).toBe(map.size);
  for (const [word, number] of map) if (dictionary.find(word) !== number) expect.fail(`${word} is not ${number}`);
});

test("createTermDictionary() takes the names of an object's own properties and the empty word as words", () => {
  const dictionary = createTermDictionary();
  expect(["__proto__", "constructor", "", "\u0000", "constructor"].map(dictionary.add)).toEqual([0, 1, 2, 3, 1]);
  expect(dictionary.find("toString")).toBe(-1);
});
