import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { displayWidth } from "../../lib/report/display_width.ts";
import type { ClaimTable } from "../../lib/report/result_table.ts";
import { toTerminal } from "../../lib/report/terminal_table.ts";
import { claims, HOSTILE, results } from "./fixture.ts";

const hostile: ClaimTable = {
  ...claims,
  claims: claims.claims.map((claim) => ({
    ...claim,
    sentence: Object.values(HOSTILE).join("\n"),
    statement: "先搜索连接实体 ".repeat(9),
  })),
};

test("toTerminal() is never wider than the terminal", () => {
  for (const table of [results, claims, hostile]) {
    for (let width = 24; width <= 160; width += 4) {
      for (const line of toTerminal(table, { width }).split("\n")) {
        expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }
    }
  }
});

test("toTerminal() aligns numbers at the right of their column", () => {
  const lines = toTerminal(results, { width: 120 }).split("\n");
  const header = lines.find((line) => line.startsWith("Arm"))!;
  const end = header.indexOf("Mean") + "Mean".length;
  const rows = lines.filter((line) => /^(INSPO|Search-R1)/.test(line));
  expect(rows.map((line) => line.slice(end - 5, end).trim())).toEqual([
    "0.967",
    "0.911",
    "0.933",
    "0.922",
    "0.865",
    "0.884",
    "2.09",
    "1.74",
  ]);
});

test("toTerminal() shows the same numbers at every width", () => {
  const numbers = (text: string) => text.match(/[−+]?\d\.\d{2,3}/g)!.sort();
  for (const table of [results, claims]) {
    const wide = numbers(toTerminal(table, { width: 200 }));
    for (const width of [40, 60, 80, 100]) expect(numbers(toTerminal(table, { width }))).toEqual(wide);
  }
});

test("toTerminal() writes colour codes only when asked, and never those of a text", () => {
  expect(toTerminal(hostile)).not.toContain("\u001b");
  const coloured = toTerminal(hostile, { colour: true });
  expect(coloured).toContain("\u001b[32msupported\u001b[39m");
  expect(stripVTControlCharacters(coloured)).toBe(toTerminal(hostile));
});
