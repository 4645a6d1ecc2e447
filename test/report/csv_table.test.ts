import { DuckDBInstance } from "@duckdb/node-api";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toCsv } from "../../lib/report/csv_table.ts";
import type { ClaimTable, ResultTable } from "../../lib/report/result_table.ts";
import { visibleText } from "../../lib/report/visible_text.ts";
import { claims, HOSTILE, results } from "./fixture.ts";

/** What DuckDB reads from a CSV, every value as text. */
async function readByDuckDb(csv: string): Promise<Record<string, string | null>[]> {
  const folder = mkdtempSync(join(tmpdir(), "coevo-csv-"));
  const instance = await DuckDBInstance.create(":memory:");
  try {
    const path = join(folder, "table.csv");
    writeFileSync(path, csv);
    const connection = await instance.connect();
    const reader = await connection.runAndReadAll(
      `select * from read_csv('${path}', header=true, all_varchar=true, strict_mode=true)`,
    );
    connection.closeSync();
    return reader.getRowObjectsJS() as Record<string, string | null>[];
  } finally {
    instance.closeSync();
    rmSync(folder, { recursive: true });
  }
}

test("toCsv() of results is read by DuckDB with the values of the table", async () => {
  const rows = await readByDuckDb(toCsv(results));
  expect(rows).toHaveLength(8);
  expect(rows[0]).toEqual({
    metric: "em_greedy",
    metric_label: "Exact match, greedy",
    arm: "inspo",
    arm_label: "INSPO",
    mean: "0.967",
    low: "0.948",
    high: "0.985",
    level: "0.95",
    items: "500",
    seeds: "3",
    per_seed: "0=0.967;1=0.951;2=0.983",
    published: "0.382",
    published_where: "Reading note on the paper, Table 1 (mean of seven sets, Qwen2.5-3B)",
    published_quality: "secondary-note",
    verdict: "not-comparable",
  });
  expect(rows[4].per_seed).toBe("0=0.870;1=0.861;2=");
  expect(rows[5].low).toBeNull();
});

test("toCsv() of claims is read by DuckDB with hostile text whole", async () => {
  const hostile: ClaimTable = {
    ...claims,
    claims: Object.values(HOSTILE).map((text) => ({ ...claims.claims[0], statement: `x ${text}`, sentence: text })),
  };
  const rows = await readByDuckDb(toCsv(hostile));
  expect(rows.map(({ statement }) => statement)).toEqual(
    Object.values(HOSTILE).map((text) => visibleText(`x ${text}`)),
  );
  expect(rows[0].estimate).toBe("0.056");
});

test("toCsv() lets no text begin a formula and leaves negative numbers numbers", () => {
  const arms = ["=1+1", "+1", "-1+2", "@sum", "\t=1", " =1", "＝1"];
  const table: ResultTable = {
    ...results,
    columns: results.columns.slice(0, 1),
    rows: arms.map((arm) => ({ arm, cells: { em_greedy: { mean: -0.5, interval: null, items: 1, seeds: [] } } })),
  };
  const lines = toCsv(table).split("\r\n").slice(1, -1);
  expect(lines.map((line) => line.split(",")[3])).toEqual(arms.map((arm) => `'${arm}`));
  for (const line of lines) expect(line).toContain(",-0.500,");
});
