import { expect, test } from "vitest";
import { displayWidth } from "../../lib/report/display_width.ts";
import { rowGrid } from "../../lib/report/row_grid.ts";
import { gridToTerminal } from "../../lib/report/terminal_table.ts";

const rows = [
  { arm: "inspo", runs: 5, mean: 0.1 + 0.2, note: null },
  { arm: "search-r1-grpo", runs: 12, mean: 1, note: "a\u001b[31mb" },
];

test("rowGrid() on a terminal aligns columns, numbers to the right with all digits, and shows hidden characters", () => {
  expect(gridToTerminal(rowGrid(rows), { width: 80 })).toBe([
    "arm             runs                 mean  note",
    "──────────────  ────  ───────────────────  ──────────────",
    "inspo              5  0.30000000000000004  –",
    "search-r1-grpo    12                    1  a[U+001B][31mb",
    "",
    "  2 rows",
    "",
  ].join("\n"));
});

test.each([24, 40, 60])("rowGrid() stays within a terminal of %i columns and loses nothing", (width) => {
  const text = gridToTerminal(rowGrid(rows), { width });
  for (const line of text.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(width);
  const letters = text.replace(/\s/g, "");
  for (const value of ["search-r1-grpo", "0.30000000000000004", "12"]) expect(letters).toContain(value);
});

test("rowGrid() writes times, lists and big numbers as a person would read them", () => {
  const row = { at: new Date(0), list: ["a", 1], count: 12_345_678_901_234_567n, yes: true };
  expect(rowGrid([row]).rows[0].map(({ text }) => text)).toEqual([
    "1970-01-01T00:00:00.000Z",
    '["a",1]',
    "12345678901234567",
    "true",
  ]);
});

test("rowGrid() of no rows says so", () => {
  expect(gridToTerminal(rowGrid([]))).toBe("  0 rows\n");
});
