import type { ClaimTable, ResultTable } from "./result_table.ts";

/** A table as JSON, numbers in full precision; an unknown number is null. */
export function toJson(table: ResultTable | ClaimTable): string {
  return `${JSON.stringify({ level: 0.95, ...table }, null, 2)}\n`;
}
