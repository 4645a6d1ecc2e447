import { expect, test } from "vitest";
import { luceneLike, whitespace } from "../../lib/retrieval/tokenizer.ts";
import { readSharedLines, testWithShared } from "../shared.ts";

/** Words by ICU's implementation of the same Unicode rules. */
function icuWords(text: string): string[] {
  const segments = new Intl.Segmenter("en", { granularity: "word" }).segment(text.toLowerCase());
  return [...segments].filter(({ isWordLike }) => isWordLike).map(({ segment }) =>
    segment.replace(/(?<=.)['’]s$/u, "")
  );
}

test("luceneLike.tokenize() agrees with ICU's word boundaries", () => {
  const texts = [
    "The year's best: 1,234.5 km² (approx.) – 'quoted' rock'n'roll, O’Neill's",
    "snake_case and hyphen-ated words; e-mail@example dot",
    "Ünïcödé ÀÉÎ Москва, Ελληνικά! العربية हिन्दी 한국어 カタカナ",
    "cafe\u0301 İstanbul straße 3.14, 2,000 '90s x86 4th",
    "",
    " \t\n…",
  ];
  for (const text of texts) expect(luceneLike.tokenize(text)).toEqual(icuWords(text));
});

const corpora = ["data/qa/hotpot500_corpus.jsonl", "data/qa/2wiki_corpus.jsonl"];
testWithShared("luceneLike.tokenize() agrees with ICU's word boundaries on real passages", corpora, () => {
  let compared = 0;
  for (const corpus of corpora) {
    for (const { contents } of readSharedLines<{ contents: string }>(corpus).slice(0, 1500)) {
      // ICU ends words at a full stop between letters (Lucene does not) and cuts Chinese and Japanese by a dictionary.
      if (/\p{L}\p{M}*\.\p{L}|[\p{sc=Han}\p{sc=Hiragana}]/u.test(contents)) continue;
      // Not covered, as documented.
      if (/\p{sc=Hebrew}|\p{L}:\p{L}|\p{Extended_Pictographic}|\p{Cf}/u.test(contents)) continue;
      expect(luceneLike.tokenize(contents)).toEqual(icuWords(contents));
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(2000);
});

test("luceneLike.tokenize() keeps abbreviations whole and cuts Han and Hiragana into characters, as Lucene does", () => {
  expect(luceneLike.tokenize("U.S. J.K. Rowling")).toEqual(["u.s", "j.k", "rowling"]);
  expect(luceneLike.tokenize("東京とTokyo")).toEqual(["東", "京", "と", "tokyo"]);
});

test("luceneLike.tokenize() drops the English possessive only", () => {
  expect(luceneLike.tokenize("Lothair's James' it’s s 's don't")).toEqual([
    "lothair",
    "james",
    "it",
    "s",
    "s",
    "don't",
  ]);
});

test("whitespace.tokenize() cuts at white space and changes nothing", () => {
  expect(whitespace.tokenize(" e12  R3\te4.\n")).toEqual(["e12", "R3", "e4."]);
  expect(whitespace.tokenize("")).toEqual([]);
});
