import { expect, test } from "vitest";
import { type Document, textOf, titleOf } from "../../lib/retrieval/document.ts";
import { formatPassages } from "../../lib/retrieval/format_passages.ts";
import { readShared, testWithShared } from "../shared.ts";

test("formatPassages() writes Search-R1's passages, title in quotes", () => {
  const documents = ['"Evan Morris"\nA lobbyist.\nIn two lines.', '"B"\n', "no title"].map((contents, i) => ({
    document: { id: String(i), contents },
  }));
  expect(formatPassages(documents)).toBe(
    'Doc 1(Title: "Evan Morris") A lobbyist.\nIn two lines.\nDoc 2(Title: "B") \nDoc 3(Title: no title) \n',
  );
  expect(formatPassages([])).toBe("");
});

testWithShared(
  "formatPassages() writes what a real Search-R1 rollout read",
  ["data/qa/searchr1_example_case.txt"],
  () => {
    const blocks = [
      ...readShared("data/qa/searchr1_example_case.txt").matchAll(/<information>(Doc 1\(.*?)<\/information>/gs),
    ];
    expect(blocks.length).toBeGreaterThan(1);
    for (const [, block] of blocks) {
      const documents = [...block.matchAll(/Doc \d+\(Title: (".*?")\) (.*?)(?=\nDoc \d+\(|\s*$)/gs)]
        .map(([, title, text]) => ({ document: { id: "", contents: `${title}\n${text}` } }));
      expect(documents).toHaveLength(3);
      expect(formatPassages(documents).trim()).toBe(block.trim());
    }
  },
);

test("titleOf() and textOf() take the contents apart", () => {
  const parts = (contents: string) => {
    const document: Document = { id: "", contents };
    return [titleOf(document), textOf(document)];
  };
  expect(parts('"Kiss and Tell (1945 film)"\nOne.\nTwo.')).toEqual(["Kiss and Tell (1945 film)", "One.\nTwo."]);
  expect(parts('""Weird Al" Yankovic"\nx')).toEqual(['"Weird Al" Yankovic', "x"]);
  expect(parts("one line")).toEqual(["one line", ""]);
  expect(parts('"')).toEqual(['"', ""]);
  expect(parts("")).toEqual(["", ""]);
});
