import type { ClaimTable, ContrastTable, ResultTable } from "./result_table.ts";
import { tableGrid } from "./table_grid.ts";

/** A table as GitHub-flavoured Markdown: heading, table, notes as a list. Text of others stays text. */
export function toMarkdown(table: ResultTable | ClaimTable | ContrastTable): string {
  const { title, columns, rows, notes } = tableGrid(table);
  const lines = [
    `### ${escapeMarkdown(title)}`,
    "",
    line(columns.map(({ header }) => escapeMarkdown(header))),
    line(columns.map(({ align }) => align === "right" ? "--:" : ":--")),
    ...rows.map((cells) => line(cells.map(({ text }) => escapeMarkdown(text)))),
  ];
  if (notes.length > 0) lines.push("", ...notes.map((note) => `- ${escapeMarkdown(note)}`));
  return `${lines.join("\n")}\n`;
}

/**
 * Text as Markdown that shows exactly this text, in a table cell or a paragraph: no emphasis, link, HTML, mathematics,
 * mention or automatic link comes of it. Line feeds become `<br>`. Numbers and intervals stay as they are.
 */
export function escapeMarkdown(text: string): string {
  if (NUMBERS.test(text)) return text;
  return text
    .replace(/[\\`*_[\]|~$#]/g, "\\$&")
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/@/g, "&#64;")
    .replace(/:\/\//g, "&#58;//")
    .replace(/\bwww\./gi, (prefix) => `${prefix.slice(0, 3)}&#46;`)
    .replace(/^(\s*)([-+])(?=\s|$)/, "$1\\$2")
    .replace(/^(\s*\d+)([.)])(?=\s|$)/, "$1\\$2")
    .replace(/\t/g, " ")
    .replace(/\n/g, "<br>");
}

/** Numbers, intervals, source numbers: brackets make no link here, because no text of others can define one. */
const NUMBERS = /^\[?[+−]?\d[\d.,\s−[\]–]*$/;

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
