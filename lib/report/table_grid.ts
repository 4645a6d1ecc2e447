import {
  formatCount,
  formatDifference,
  formatInterval,
  formatNumber,
  formatPercent,
  MISSING,
} from "./format_number.ts";
import {
  type Claim,
  type ClaimTable,
  type ContrastTable,
  type Published,
  publishedSources,
  resultCells,
  type ResultTable,
  seedCount,
  sourceOf,
} from "./result_table.ts";
import { visibleText } from "./visible_text.ts";

/** How a cell should stand out where the medium can do so. */
export type Tone = "good" | "bad" | "open" | "muted" | "strong";

/** A cell as text; not yet escaped for any medium. */
export interface GridCell {
  text: string;
  tone?: Tone;
}

/** A column of a grid. */
export interface GridColumn {
  header: string;
  align: "left" | "right";
  /** Where a terminal shows it: in the row (default), there only if there is room, or always in a line of its own under the row. */
  place?: "row" | "row-if-room" | "below";
}

/** A table as text, the common form behind Markdown and the terminal. */
export interface Grid {
  title: string;
  columns: readonly GridColumn[];
  rows: readonly (readonly GridCell[])[];
  /** Whether rows with the same first cell belong together, so that a terminal shows it once, as a heading. */
  isGrouped: boolean;
  /** Sources of published numbers first (`[1] …`), then the table's notes. */
  notes: readonly string[];
}

/** Any table as a grid. */
export function tableGrid(table: ResultTable | ClaimTable | ContrastTable): Grid {
  if (table.kind === "results") return resultGrid(table);
  return table.kind === "claims" ? claimGrid(table) : contrastGrid(table);
}

function contrastGrid({ title, first, second, rows, notes, digits, level = 0.95 }: ContrastTable): Grid {
  return {
    title: visibleText(title),
    columns: [
      { header: "Setting", align: "left" },
      { header: visibleText(first), align: "right" },
      { header: visibleText(second), align: "right" },
      { header: "Difference", align: "right" },
      { header: `${formatPercent(level)} interval`, align: "right" },
      { header: "Verdict", align: "left" },
    ],
    rows: rows.map((row) => [
      { text: visibleText(row.setting) },
      { text: formatNumber(row.first, digits) },
      { text: formatNumber(row.second, digits) },
      { text: formatDifference(row.estimate, digits), tone: "strong" },
      { text: formatInterval(row.interval, digits) },
      { text: row.verdict, tone: verdictTone(row.verdict) },
    ]),
    isGrouped: false,
    notes: notes.map(visibleText),
  };
}

/** The tone of a claim's verdict. */
export function verdictTone(verdict: Claim["verdict"]): Tone {
  return ({ supported: "good", contradicted: "bad", inconclusive: "open", "not-run": "muted" } as const)[verdict];
}

function resultGrid(table: ResultTable): Grid {
  const sources = publishedSources(table);
  const cells = resultCells(table);
  const hasVerdicts = cells.some(({ measurement }) => measurement.verdict !== undefined);
  const columns: GridColumn[] = [
    { header: "Metric", align: "left" },
    { header: "Arm", align: "left" },
    { header: "Mean", align: "right" },
    { header: `${formatPercent(table.level ?? 0.95)} interval`, align: "right" },
    { header: "Items", align: "right" },
    { header: "Seeds", align: "right" },
    { header: "Per seed", align: "left", place: "row-if-room" },
    { header: "Published", align: "right" },
  ];
  const rows = cells.map(({ column, row, measurement }): GridCell[] => {
    const { digits } = column;
    return [
      { text: visibleText(column.label) },
      { text: visibleText(row.label ?? row.arm) },
      { text: formatNumber(measurement.mean, digits), tone: "strong" },
      { text: formatInterval(measurement.interval, digits) },
      { text: formatCount(measurement.items) },
      { text: seedCount(measurement.seeds) },
      { text: measurement.seeds.map(({ value }) => formatNumber(value, digits)).join(" "), tone: "muted" },
      { text: publishedText(measurement.published, sources, (value) => formatNumber(value, digits)) },
      ...(hasVerdicts ? [{ text: measurement.verdict ?? MISSING }] : []),
    ];
  });
  const protocols = table.columns.flatMap(({ label, protocol }) =>
    protocol === undefined ? [] : [`${label}: ${protocol}`]
  );
  return {
    title: visibleText(table.title),
    columns: hasVerdicts ? [...columns, { header: "Verdict", align: "left" }] : columns,
    rows,
    isGrouped: true,
    notes: [...numbered(sources), ...protocols, ...table.notes].map(visibleText),
  };
}

function claimGrid(table: ClaimTable): Grid {
  const sources = publishedSources(table);
  return {
    title: visibleText(table.title),
    columns: [
      { header: "Claim", align: "left" },
      { header: "Verdict", align: "left" },
      { header: "Difference", align: "right" },
      { header: `${formatPercent(table.level ?? 0.95)} interval`, align: "right" },
      { header: "Margin", align: "right" },
      { header: "Published", align: "right" },
      { header: "Contrast", align: "left", place: "below" },
      { header: "Statement", align: "left", place: "below" },
      { header: "Source", align: "left", place: "below" },
      { header: "Finding", align: "left", place: "below" },
    ],
    rows: table.claims.map((claim) => [
      { text: visibleText(claim.id), tone: "strong" },
      { text: claim.verdict, tone: verdictTone(claim.verdict) },
      { text: formatDifference(claim.estimate, claim.digits), tone: "strong" },
      { text: formatInterval(claim.interval, claim.digits) },
      { text: formatNumber(claim.margin, claim.digits) },
      { text: publishedText(claim.published, sources, (value) => formatDifference(value, claim.digits)) },
      { text: visibleText(claim.contrast) },
      { text: visibleText(claim.statement) },
      { text: visibleText(claim.source ?? MISSING) },
      { text: visibleText(claim.sentence) },
    ]),
    isGrouped: false,
    notes: [...numbered(sources), ...table.notes].map(visibleText),
  };
}

function publishedText(
  published: Published | null | undefined,
  sources: readonly string[],
  format: (value: number) => string,
): string {
  if (!published) return MISSING;
  return `${format(published.value)} [${sources.indexOf(sourceOf(published)) + 1}]`;
}

function numbered(sources: readonly string[]): string[] {
  return sources.map((source, index) => `[${index + 1}] ${source}`);
}
