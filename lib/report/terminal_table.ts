import { styleText } from "node:util";
import { displayWidth, wrapText } from "./display_width.ts";
import type { ClaimTable, ContrastTable, ResultTable } from "./result_table.ts";
import { type Grid, type GridCell, type GridColumn, tableGrid, type Tone } from "./table_grid.ts";

/** How to draw for a terminal. */
export interface TerminalOptions {
  /** Columns of the terminal, at least 24; default 100. */
  width?: number;
  /** Whether to write colour codes; default no. The caller knows NO_COLOR and whether there is a terminal. */
  colour?: boolean;
}

type Paint = (text: string, tone?: Tone) => string;

const GAP = "  ";
const LEAST_WIDTH = 24;
const TONES: Readonly<Record<Tone, Parameters<typeof styleText>[0]>> = {
  good: "green",
  bad: "red",
  open: "yellow",
  muted: "dim",
  strong: "bold",
};

/**
 * A table for a terminal: aligned columns, long texts wrapped under their row, nothing wider than the terminal. Where
 * even the numbers do not fit, each row becomes a list of `header value` lines.
 */
export function toTerminal(table: ResultTable | ClaimTable | ContrastTable, options: TerminalOptions = {}): string {
  return gridToTerminal(tableGrid(table), options);
}

/** A grid as {@link toTerminal} draws it; without columns only its notes, without a title no line for it. */
export function gridToTerminal(grid: Grid, options: TerminalOptions = {}): string {
  const width = Math.max(LEAST_WIDTH, options.width ?? 100);
  const paint: Paint = (text, tone) =>
    options.colour && tone && text !== "" ? styleText(TONES[tone], text, { validateStream: false }) : text;
  const blocks = [
    grid.title === "" ? [] : wrapText(grid.title, width).map((line) => paint(line, "strong")),
    grid.columns.length === 0 ? [] : gridLines(grid, width, paint),
    grid.notes.flatMap((note) => wrapText(note, width - 2).map((line) => `  ${paint(line, "muted")}`)),
  ].filter((lines) => lines.length > 0);
  const lines = blocks.flatMap((block, index) => index === 0 ? block : ["", ...block]);
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}

/** The grid with as much in its rows as fits. */
function gridLines(grid: Grid, width: number, paint: Paint): string[] {
  const all = [...grid.columns.keys()].slice(grid.isGrouped ? 1 : 0);
  const placed = (...places: string[]) => all.filter((index) => places.includes(grid.columns[index].place ?? "row"));
  for (const inRow of [placed("row", "row-if-room"), placed("row")]) {
    const widths = fitColumns(grid, inRow, width);
    if (widths === null) continue;
    const below = all.filter((index) => !inRow.includes(index));
    const columns = inRow.map((index) => grid.columns[index]);
    const header = alignedLines(
      columns.map((column) => ({ text: column.header, tone: "muted" as const })),
      columns,
      widths,
      paint,
    );
    const rule = paint(widths.map((columnWidth) => "─".repeat(columnWidth)).join(GAP), "muted");
    const rows = grid.rows.map((row) => [
      ...alignedLines(inRow.map((index) => row[index]), columns, widths, paint),
      ...labelled(grid, row, below, width, paint),
    ]);
    return [...header, rule, ...separated(grid, rows, below.length > 0, width, paint)];
  }
  return separated(grid, grid.rows.map((row) => labelled(grid, row, all, width, paint)), true, width, paint);
}

/** Rows under each other: group headings before their first row, an empty line between blocks. */
function separated(grid: Grid, rows: readonly string[][], areBlocks: boolean, width: number, paint: Paint): string[] {
  return rows.flatMap((lines, number) => {
    const group = grid.rows[number][0].text;
    const startsGroup = grid.isGrouped && (number === 0 || grid.rows[number - 1][0].text !== group);
    const heading = startsGroup ? wrapText(group, width).map((line) => paint(line, "strong")) : [];
    return [...(number > 0 && (areBlocks || startsGroup) ? [""] : []), ...heading, ...lines];
  });
}

/** Widths of columns that fit into `width`, or null: texts wrap down to their longest word, numbers do not. */
function fitColumns(grid: Grid, shown: readonly number[], width: number): number[] | null {
  const texts = shown.map((index) => [grid.columns[index].header, ...grid.rows.map((row) => row[index].text)]);
  const widths = texts.map((column) => widest(column.flatMap((text) => text.split("\n"))));
  const least = texts.map((column, position) =>
    grid.columns[shown[position]].align === "right"
      ? widths[position]
      : Math.min(24, widest(column.flatMap((text) => text.split(/\s+/))))
  );
  let excess = widths.reduce((sum, columnWidth) => sum + columnWidth, 0) + GAP.length * (widths.length - 1) - width;
  while (excess > 0) {
    const slack = widths.map((columnWidth, position) => columnWidth > least[position] ? columnWidth : 0);
    const largest = Math.max(...slack);
    if (largest === 0) return null;
    widths[slack.indexOf(largest)] -= 1;
    excess -= 1;
  }
  return widths;
}

function alignedLines(
  cells: readonly GridCell[],
  columns: readonly GridColumn[],
  widths: readonly number[],
  paint: Paint,
): string[] {
  const wrapped = cells.map(({ text }, index) => wrapText(text, widths[index]));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  const cellLine = (index: number, line: number): string => {
    const text = wrapped[index][line] ?? "";
    const padding = " ".repeat(widths[index] - displayWidth(text));
    const painted = paint(text, cells[index].tone);
    return columns[index].align === "right" ? padding + painted : painted + padding;
  };
  return Array.from({ length: height }, (_, line) => cells.map((_, index) => cellLine(index, line)).join(GAP));
}

/** `  header  text` for each of the columns, the text wrapped behind the header or, in narrow terminals, under it. */
function labelled(
  grid: Grid,
  row: readonly GridCell[],
  columns: readonly number[],
  width: number,
  paint: Paint,
): string[] {
  const labelWidth = widest(columns.map((index) => grid.columns[index].header));
  const room = width - labelWidth - 4;
  return columns.flatMap((index) => {
    const { header } = grid.columns[index];
    const { text, tone } = row[index];
    if (room < 12) {
      return [
        `  ${paint(header, "muted")}`,
        ...wrapText(text, width - 4).map((line) => `    ${paint(line, tone)}`),
      ];
    }
    return wrapText(text, room).map((line, number) =>
      `  ${paint((number === 0 ? header : "").padEnd(labelWidth), "muted")}  ${paint(line, tone)}`
    );
  });
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map(displayWidth));
}
