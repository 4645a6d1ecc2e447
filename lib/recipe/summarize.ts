import type { RunRecord } from "../record/read_run.ts";
import type { Claim as ClaimRow, ClaimTable, Measurement, Published, ResultTable } from "../report/result_table.ts";
import { tInterval } from "../stats/t_interval.ts";
import type { Arm, Claim, Metric, PublishedValue, Scale } from "./recipe.ts";
import { pairedItemsSentence } from "./paired_items.ts";
import { type ClaimResult, judgeClaims, type SeedValues } from "./verdict.ts";

/** Runs of one variant of a scale, as tables. */
export interface Summary {
  results: ResultTable;
  claims: ClaimTable;
  judged: readonly ClaimResult[];
}

/** What the tables are about. */
export interface SummaryInput {
  title: string;
  scale: Scale;
  /** Arms in the order of the table. */
  arms: readonly string[];
  seeds: readonly number[];
  /** Finished runs of these arms and seeds. */
  runs: readonly RunRecord[];
}

/** The note under every table whose numbers are not the paper's kind of numbers. */
export const ARMS_ONLY_NOTE =
  "Cells of this scale are compared between arms only, never with the paper's absolute values: published numbers are shown for orientation (not-comparable).";

/** The tables of a scale: arm × metric with intervals over seeds, and a verdict for each claim. */
export function summarize({ title, scale: declared, arms, seeds, runs }: SummaryInput): Summary {
  const scale = { ...declared, metrics: declared.metrics.map((metric) => withItemsOf(metric, runs)) };
  const valuesOf = (metric: Metric): SeedValues =>
    new Map(arms.map((arm) => [arm, valuesBySeed(metric, runs.filter(({ config }) => config.arm === arm))]));
  const judged = judgeClaims(scale.claims, scale.metrics, valuesOf);
  const results: ResultTable = {
    kind: "results",
    title,
    columns: scale.metrics.map(({ id, label, definition, digits }) => ({ id, label, protocol: definition, digits })),
    rows: arms.map((arm) => ({
      arm,
      cells: Object.fromEntries(scale.metrics.map((metric, index) => {
        const values = valuesOf(metric).get(arm) ?? new Map<number, number>();
        return [metric.id, measurement(metric, values, seeds, index === 0 ? scale.arms[arm] : null)];
      })),
    })),
    notes: [...censoringNotes(scale, arms, runs), ARMS_ONLY_NOTE],
  };
  return { results, claims: claimTable(judged, scale, runs), judged };
}

/** A metric with the number of items that these runs have; their settings are equal, so the first run tells it. */
function withItemsOf(metric: Metric, runs: readonly RunRecord[]): Metric {
  const items = runs.length === 0 ? null : metric.itemsOf?.(runs[0]) ?? null;
  return items === null ? metric : { ...metric, items, quantum: 1 / items };
}

function valuesBySeed(metric: Metric, runs: readonly RunRecord[]): Map<number, number> {
  const values = new Map<number, number>();
  for (const run of runs) {
    const value = metric.ofRun(run);
    if (value !== null) values.set(run.config.seed, value);
  }
  return values;
}

/** The paper's number stands beside the first metric only: it is the one of the same name. */
function measurement(
  metric: Metric,
  values: ReadonlyMap<number, number>,
  seeds: readonly number[],
  arm: Arm | null,
): Measurement {
  const present = seeds.flatMap((seed) => values.get(seed) ?? []);
  const interval = present.length < 2 ? null : tInterval(present);
  const isBounded = metric.quantum < 1;
  return {
    mean: present.length === 0 ? null : present.reduce((sum, value) => sum + value, 0) / present.length,
    interval: interval === null || interval.low === null || interval.high === null ? null : {
      low: isBounded ? Math.max(0, interval.low) : interval.low,
      high: isBounded ? Math.min(1, interval.high) : interval.high,
    },
    items: metric.items,
    seeds: seeds.map((seed) => ({ seed, value: values.get(seed) ?? null })),
    published: arm?.published === undefined ? null : publishedOf(arm.published),
    verdict: present.length < seeds.length ? "incomplete" : arm?.published === undefined ? undefined : "not-comparable",
  };
}

function publishedOf({ value, unit, what, where, quality, copiedFrom }: PublishedValue): Published {
  const origin = copiedFrom === null ? where : `${where}, copied from ${copiedFrom}`;
  return { value: unit === "percent" ? value / 100 : value, where: `${what}: ${origin}`, quality };
}

function censoringNotes(scale: Scale, arms: readonly string[], runs: readonly RunRecord[]): string[] {
  return scale.metrics.flatMap((metric) => {
    if (metric.isCensored === undefined) return [];
    const counts = arms.map((arm) => {
      const own = runs.filter(({ config }) => config.arm === arm);
      return { arm, censored: own.filter((run) => metric.isCensored?.(run)).length, all: own.length };
    }).filter(({ censored }) => censored > 0);
    if (counts.length === 0) return [];
    const list = counts.map(({ arm, censored, all }) => `${arm} ${censored} of ${all}`).join(", ");
    return [`${metric.label}: runs that never reached it count with the whole budget (${list}).`];
  });
}

function claimTable(judged: readonly ClaimResult[], scale: Scale, runs: readonly RunRecord[]): ClaimTable {
  const run = judged.filter(({ verdict }) => verdict !== "not-run");
  const notRun = judged.filter(({ verdict }) => verdict === "not-run");
  return {
    kind: "claims",
    title: "Claims",
    claims: run.map((result) => claimRow(result, scale, runs)),
    notes: [
      VERDICT_NOTE,
      ...(notRun.length === 0
        ? []
        : [`Not run: ${notRun.map(({ claim }) => `${claim.id} (${claim.arm} − ${claim.baseline})`).join(", ")}.`]),
    ],
  };
}

/** How verdicts are made; stands under every table of claims. */
export const VERDICT_NOTE =
  "Differences are signed so that more is better for the claim. supported: the sign holds at 5 % after Holm over all claims that were run, and the difference is at least the margin. contradicted: an improvement as large as the margin lies outside the 95 % interval. inconclusive: neither.";

function contrastOf({ arm, baseline }: Claim, metric?: Metric): string {
  return metric?.higherIsBetter === false ? `${baseline} − ${arm}` : `${arm} − ${baseline}`;
}

function claimRow(
  { claim, difference, interval, verdict, sentence }: ClaimResult,
  scale: Scale,
  runs: readonly RunRecord[],
): ClaimRow {
  const metric = scale.metrics.find(({ id }) => id === claim.metric);
  const items = metric === undefined ? null : pairedItemsSentence(claim, metric, runs);
  return {
    id: claim.id,
    statement: claim.statement,
    contrast: `${contrastOf(claim, metric)}, ${metric?.label ?? claim.metric}`,
    source: claim.source,
    margin: claim.margin,
    estimate: difference,
    interval,
    published: claim.published === null ? null : publishedOf(claim.published),
    digits: metric?.digits,
    verdict,
    sentence: items === null ? sentence : `${sentence} ${items}`,
  };
}
