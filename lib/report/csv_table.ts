import { plainNumber } from "./format_number.ts";
import { type ClaimTable, resultCells, type ResultTable } from "./result_table.ts";
import { visibleText } from "./visible_text.ts";

type CsvCell = string | number | null | undefined | { value: number | null; digits: number };

/**
 * A table as CSV (RFC 4180: CRLF, quotes doubled), one row for each arm and metric or each claim, numbers rounded as in
 * the other forms, nothing where there is no value.
 *
 * A text that a spreadsheet would take for a formula begins with an apostrophe.
 */
export function toCsv(table: ResultTable | ClaimTable): string {
  return [...(table.kind === "results" ? resultLines(table) : claimLines(table))].map((cells) =>
    `${cells.map(escapeCsv).join(",")}\r\n`
  ).join("");
}

function* resultLines(table: ResultTable): Generator<CsvCell[]> {
  yield [
    "metric",
    "metric_label",
    "arm",
    "arm_label",
    "mean",
    "low",
    "high",
    "level",
    "items",
    "seeds",
    "per_seed",
    "published",
    "published_where",
    "published_quality",
    "verdict",
  ];
  for (const { column, row, measurement } of resultCells(table)) {
    const { mean, interval, items, seeds, published, verdict } = measurement;
    const number = (value: number | null) => ({ value, digits: column.digits ?? 3 });
    const perSeed = seeds.map(({ seed, value }) => `${seed}=${plainNumber(value, column.digits) ?? ""}`).join(";");
    yield [
      column.id,
      column.label,
      row.arm,
      row.label ?? row.arm,
      number(mean),
      number(interval?.low ?? null),
      number(interval?.high ?? null),
      table.level ?? 0.95,
      items,
      seeds.filter(({ value }) => value !== null).length,
      perSeed,
      number(published?.value ?? null),
      published?.where,
      published?.quality,
      verdict,
    ];
  }
}

function* claimLines(table: ClaimTable): Generator<CsvCell[]> {
  yield [
    "claim",
    "verdict",
    "estimate",
    "low",
    "high",
    "level",
    "margin",
    "published",
    "published_where",
    "published_quality",
    "contrast",
    "statement",
    "sentence",
  ];
  for (const { id, verdict, estimate, interval, margin, published, contrast, statement, sentence } of table.claims) {
    const number = (value: number | null) => ({ value, digits: 3 });
    yield [
      id,
      verdict,
      number(estimate),
      number(interval?.low ?? null),
      number(interval?.high ?? null),
      table.level ?? 0.95,
      number(margin),
      number(published?.value ?? null),
      published?.where,
      published?.quality,
      contrast,
      statement,
      sentence,
    ];
  }
}

function escapeCsv(cell: CsvCell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "number") return `${cell}`;
  if (typeof cell === "object") return plainNumber(cell.value, cell.digits) ?? "";
  const text = visibleText(cell);
  // Spreadsheets take these for formulas, their full-width twins included, also behind white space.
  const safe = /^\s*[=+\-@＝＋－＠]|^[\t\n]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}
