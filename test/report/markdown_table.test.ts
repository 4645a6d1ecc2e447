import { expect, test } from "vitest";
import { escapeMarkdown, toMarkdown } from "../../lib/report/markdown_table.ts";
import { claims, HOSTILE, results } from "./fixture.ts";

test("toMarkdown() gives every row as many cells as the header, whatever the texts hold", () => {
  const hostile = { ...results, rows: results.rows.map((row) => ({ ...row, label: HOSTILE.markdown })) };
  for (const table of [results, hostile, claims]) {
    const lines = toMarkdown(table).split("\n").filter((line) => line.startsWith("|"));
    const widths = lines.map((line) => line.split(/(?<!\\)\|/).length);
    expect(new Set(widths).size).toBe(1);
    expect(lines).toHaveLength(2 + (table.kind === "claims" ? table.claims.length : 8));
  }
});

test("toMarkdown() leaves numbers and intervals as they are and numbers the sources", () => {
  const text = toMarkdown(results);
  expect(text).toContain(
    "| Exact match, greedy | INSPO | 0.967 | [0.948, 0.985] | 500 | 3 | 0.967 0.951 0.983 | 0.382 [1] | not-comparable |",
  );
  expect(text).toContain("- \\[1\\] Reading note on the paper");
  expect(text).toContain("| 2 of 3 | 0.870 0.861 – |");
});

test("escapeMarkdown() leaves nothing that Markdown or GitHub would act on", () => {
  expect(escapeMarkdown(HOSTILE.markdown)).toBe(
    "a \\| b<br>\\# heading \\`code\\` \\[link\\](https&#58;//example.org) &lt;!-- \\* &#64;someone \\$x\\$ www&#46;example.org",
  );
  expect(escapeMarkdown(HOSTILE.script)).not.toMatch(/[<>]/);
  expect(escapeMarkdown("- item")).toBe("\\- item");
  expect(escapeMarkdown("1. item")).toBe("1\\. item");
  expect(escapeMarkdown("[^1]: note")).toBe("\\[^1\\]: note");
});
