import { expect, test } from "vitest";
import { normalizeAnswer } from "../../lib/reward/normalize_answer.ts";
import { splitWhitespace, stripWhitespace } from "../../lib/reward/python_whitespace.ts";
import { goldenRows } from "../golden/agreement.ts";

test("normalizeAnswer() gives Python's text on every golden pair", () => {
  const rows = goldenRows("pair");
  expect(rows.length).toBeGreaterThan(100);
  for (const { args, expected } of rows) {
    const { own } = expected as { own: { norm_pred: string; norm_golds: string[] } };
    expect(normalizeAnswer(args.prediction as string)).toBe(own.norm_pred);
    expect((args.golds as string[]).map(normalizeAnswer)).toEqual(own.norm_golds);
  }
});

test.each([
  ["The Beatles", "beatles"],
  ["thé a", "thé"],
  ["éa", "éa"],
  ["a\u0301b", "\u0301b"],
  ["a_the", "athe"],
  ["“quoted” — x", "“quoted” — x"],
  ["Straße İ", "straße i\u0307"],
  ["one\u0085two\u001cthree\ufefffour", "one two three\ufefffour"],
])("normalizeAnswer(%j) is %j, as in CPython", (text, expected) => expect(normalizeAnswer(text)).toBe(expected));

test("normalizeAnswer() takes the same articles from text with and without a letter outside ASCII", () => {
  const text = "The a-b of an apple, another the";
  expect(normalizeAnswer(`${text} é`)).toBe(`${normalizeAnswer(text)} é`);
});

test("normalizeAnswer() changes its own result only where punctuation had joined an article", () => {
  for (const { args } of goldenRows("pair")) {
    const once = normalizeAnswer(args.prediction as string);
    expect(normalizeAnswer(once).length).toBeLessThanOrEqual(once.length);
  }
  expect(normalizeAnswer("the")).toBe("");
});

test("stripWhitespace() strips what Python's str.strip() does", () => {
  expect(stripWhitespace("\u001c \u0085x y\u00a0\n")).toBe("x y");
  expect(stripWhitespace("\ufeffx")).toBe("\ufeffx");
  expect(stripWhitespace(" \n ")).toBe("");
});

test("splitWhitespace() gives no empty words", () => {
  expect(splitWhitespace("  a\u2003b ")).toEqual(["a", "b"]);
  expect(splitWhitespace(" ")).toEqual([]);
});
