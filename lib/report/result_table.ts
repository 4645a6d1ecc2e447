import type { Interval } from "./format_number.ts";

/** The outcome of one seed; null if its run failed or was not made. */
export interface SeedValue {
  seed: number;
  value: number | null;
}

/** A number that somebody else published. */
export interface Published {
  /** In the column's unit; a fraction where the column is one (the paper's 38.2 is 0.382). */
  value: number;
  /** Paper and table, or whoever reports it. */
  where: string;
  /** How far the source can be trusted, e.g. `paper-table`, `secondary-note`. */
  quality: string;
}

/** Of a measured against a published number; `not-comparable` wherever protocol fields differ. */
export type CellVerdict = "reproduced" | "better" | "worse" | "inconclusive" | "not-comparable" | "incomplete";

/** What was measured for one arm and one metric. */
export interface Measurement {
  /** Mean over the seeds that have a value; null if none has. */
  mean: number | null;
  /** Interval of the mean over seeds (Student's t); null where it cannot be had (one seed). */
  interval: Interval | null;
  /** Items that each seed was measured on; null where the metric has none. */
  items: number | null;
  seeds: readonly SeedValue[];
  published?: Published | null;
  verdict?: CellVerdict;
}

/** A metric. */
export interface ResultColumn {
  /** Key of the rows' cells. */
  id: string;
  /** With estimator and unit, e.g. `Exact match, greedy`. */
  label: string;
  /** Panel, decoding, checkpoint rule: what a reader needs to compare it with another table's. */
  protocol?: string;
  /** Decimals; default 3. */
  digits?: number;
}

/** An arm. */
export interface ResultRow {
  /** The arm's id, as in the runs' paths. */
  arm: string;
  /** Its name in words; default the id. */
  label?: string;
  /** By column id. A column without a cell was not measured for this arm. */
  cells: Readonly<Record<string, Measurement>>;
}

/** Arms × metrics. Rendered grouped by metric, so that the arms of a metric stand under each other. */
export interface ResultTable {
  kind: "results";
  title: string;
  columns: readonly ResultColumn[];
  rows: readonly ResultRow[];
  /** Sentences under the table. */
  notes: readonly string[];
  /** Confidence level of all intervals; default 0.95. */
  level?: number;
}

/** What the cells say about a claim. */
export type ClaimVerdict = "supported" | "contradicted" | "inconclusive" | "not-run";

/** A statement of the paper, tested. */
export interface Claim {
  id: string;
  /** What the paper says, in one sentence. */
  statement: string;
  /** What was subtracted from what, e.g. `inspo − search-r1-grpo, exact match`. */
  contrast: string;
  /** Where the paper says so, and how good that source is. */
  source?: string;
  /** The least difference that supports the claim, declared before the run. */
  margin: number;
  /** The difference; null if it was not measured. */
  estimate: number | null;
  interval: Interval | null;
  /** The paper's own difference. */
  published: Published | null;
  /** Decimals of margin, estimate and interval; default 3. */
  digits?: number;
  verdict: ClaimVerdict;
  /** Why this verdict, made from the numbers. */
  sentence: string;
}

/** Claims with their verdicts. */
export interface ClaimTable {
  kind: "claims";
  title: string;
  claims: readonly Claim[];
  notes: readonly string[];
  /** Confidence level of all intervals; default 0.95. */
  level?: number;
}

/** One contrast of two arms under several settings: a point of a sensitivity grid each. */
export interface ContrastRow {
  /** The setting, e.g. `learning rate 1e-4, prior 0.005`. */
  setting: string;
  /** Mean of each arm; null where it was not run. */
  first: number | null;
  second: number | null;
  estimate: number | null;
  interval: Interval | null;
  verdict: ClaimVerdict;
}

/** A contrast over the points of a grid: where does it hold? */
export interface ContrastTable {
  kind: "contrasts";
  title: string;
  /** Names of the two arms; the estimate is signed so that more is better for the first. */
  first: string;
  second: string;
  rows: readonly ContrastRow[];
  notes: readonly string[];
  /** Decimals; default 3. */
  digits?: number;
  /** Confidence level of all intervals; default 0.95. */
  level?: number;
}

/** One metric of one arm. */
export interface ResultCell {
  column: ResultColumn;
  row: ResultRow;
  measurement: Measurement;
}

/** The cells of a table, metric by metric; those that were not measured are left out. */
export function resultCells(table: ResultTable): ResultCell[] {
  return table.columns.flatMap((column) =>
    table.rows.flatMap((row) => {
      const measurement = row.cells[column.id];
      return measurement === undefined ? [] : [{ column, row, measurement }];
    })
  );
}

/** The sources of a table's published numbers, each once, in reading order; readers know them as `[1]`, `[2]`, …. */
export function publishedSources(table: ResultTable | ClaimTable): string[] {
  const published = table.kind === "results"
    ? resultCells(table).map(({ measurement }) => measurement.published)
    : table.claims.map((claim) => claim.published);
  return [...new Set(published.flatMap((number) => number ? [sourceOf(number)] : []))];
}

/** A published number's source as a reader sees it. */
export function sourceOf(published: Published): string {
  return `${published.where} (${published.quality})`;
}

/** Seeds that have a value, with the others named: `3`, `2 of 3`. */
export function seedCount(seeds: readonly SeedValue[]): string {
  const measured = seeds.filter(({ value }) => value !== null).length;
  return measured === seeds.length ? `${measured}` : `${measured} of ${seeds.length}`;
}
