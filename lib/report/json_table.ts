import type { ClaimTable, ContrastTable, ResultTable } from "./result_table.ts";

/** A table as JSON, numbers in full precision; an unknown number is null. */
export function toJson(table: ResultTable | ClaimTable | ContrastTable): string {
  return `${JSON.stringify({ level: 0.95, ...table }, null, 2)}\n`;
}
