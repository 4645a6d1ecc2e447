import { expect, test } from "vitest";
import { toCsv } from "../../lib/report/csv_table.ts";
import { plainNumber } from "../../lib/report/format_number.ts";
import { toJson } from "../../lib/report/json_table.ts";
import { toMarkdown } from "../../lib/report/markdown_table.ts";
import type { ResultTable } from "../../lib/report/result_table.ts";
import { toTerminal } from "../../lib/report/terminal_table.ts";
import { claims, results } from "./fixture.ts";

test("toJson() keeps the table with full precision", () => {
  expect(JSON.parse(toJson(results))).toEqual({ level: 0.95, ...results });
  expect(JSON.parse(toJson(claims)).claims[3].estimate).toBeNull();
});

test("Markdown, CSV, terminal and JSON show the same numbers", () => {
  const table = JSON.parse(toJson(results)) as ResultTable;
  for (const column of table.columns) {
    for (const row of table.rows) {
      const cell = row.cells[column.id];
      if (cell === undefined) continue;
      for (
        const value of [
          cell.mean,
          cell.interval?.low,
          cell.interval?.high,
          ...cell.seeds.map((seed) => seed.value),
        ]
      ) {
        const digits = plainNumber(value ?? null, column.digits);
        if (digits === null) continue;
        for (const text of [toMarkdown(results), toCsv(results), toTerminal(results)]) expect(text).toContain(digits);
      }
    }
  }
});
