import { MISSING } from "./format_number.ts";
import type { Grid } from "./table_grid.ts";
import { visibleText } from "./visible_text.ts";

/**
 * The rows of a query as a grid: a column for each key of the first row, numbers to the right and with all their digits,
 * null as {@link MISSING}.
 */
export function rowGrid(rows: readonly Readonly<Record<string, unknown>>[]): Grid {
  const keys = Object.keys(rows[0] ?? {});
  return {
    title: "",
    columns: keys.map((key) => ({
      header: visibleText(key),
      align: rows.every((row) => isNumeric(row[key])) ? "right" : "left",
    })),
    rows: rows.map((row) => keys.map((key) => ({ text: cellText(row[key]) }))),
    isGrouped: false,
    notes: [rows.length === 1 ? "1 row" : `${rows.length} rows`],
  };
}

function isNumeric(value: unknown): boolean {
  return value === null || typeof value === "number" || typeof value === "bigint";
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return MISSING;
  if (value instanceof Date) return value.toISOString();
  return visibleText(typeof value === "object" ? JSON.stringify(value) : String(value));
}
