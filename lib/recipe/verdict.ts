import { holm } from "../stats/holm.ts";
import { sampleVariance } from "../stats/mean.ts";
import { tTest } from "../stats/paired_t.ts";
import type { Claim, Metric } from "./recipe.ts";

/** What the runs say about a claim. */
export type Verdict = "supported" | "contradicted" | "inconclusive" | "not-run";

/** A claim with what was measured. */
export interface ClaimResult {
  claim: Claim;
  verdict: Verdict;
  /** Mean over seeds of arm − baseline, signed so that more is better for the claim; null where not run. */
  difference: number | null;
  /** 95 % t interval over seeds; null with fewer than two. */
  interval: { low: number; high: number } | null;
  /** Two-sided paired t, Holm-adjusted over the claims of the scale. */
  adjustedP: number | null;
  seeds: readonly number[];
  /** One sentence with the numbers. */
  sentence: string;
}

/** Values of one metric by arm and seed. */
export type SeedValues = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** Significance level, family-wise. */
const ALPHA = 0.05;

/**
 * Judges claims on the seeds that both arms have, paired by seed (equal seeds share world, tasks and test items).
 *
 * - `supported`: the difference has the claimed sign at 5 % after Holm over all claims of the scale, and is at least
 *   the claim's margin.
 * - `contradicted`: an improvement as large as the margin is outside the 95 % interval.
 * - `inconclusive`: neither, or fewer than two seeds.
 *
 * A spread below the metric's quantum is not believed: the standard deviation is at least quantum/√12, so that equal
 * differences on a few seeds do not make certainty.
 */
export function judgeClaims(
  claims: readonly Claim[],
  metrics: readonly Metric[],
  valuesOf: (metric: Metric) => SeedValues,
): ClaimResult[] {
  const measured = claims.map((claim) => measure(claim, metricOf(claim, metrics), valuesOf));
  const tested = measured.filter(({ p }) => p !== null);
  const adjusted = holm(tested.map(({ p }) => p as number));
  const adjustedOf = new Map(tested.map(({ claim }, index) => [claim.id, adjusted[index]]));
  return measured.map((result) =>
    conclude(result, adjustedOf.get(result.claim.id) ?? null, metricOf(result.claim, metrics))
  );
}

interface Measured {
  claim: Claim;
  seeds: readonly number[];
  difference: number | null;
  interval: { low: number; high: number } | null;
  p: number | null;
}

function measure(claim: Claim, metric: Metric, valuesOf: (metric: Metric) => SeedValues): Measured {
  const values = valuesOf(metric);
  const ours = values.get(claim.arm) ?? new Map<number, number>();
  const theirs = values.get(claim.baseline) ?? new Map<number, number>();
  const seeds = [...ours.keys()].filter((seed) => theirs.has(seed)).sort((a, b) => a - b);
  if (seeds.length === 0) return { claim, seeds, difference: null, interval: null, p: null };
  const sign = metric.higherIsBetter ? 1 : -1;
  const differences = seeds.map((seed) => sign * ((ours.get(seed) as number) - (theirs.get(seed) as number)));
  const difference = differences.reduce((sum, value) => sum + value, 0) / seeds.length;
  if (seeds.length < 2) return { claim, seeds, difference, interval: null, p: null };
  const spread = Math.max(Math.sqrt(sampleVariance(differences)), metric.quantum / Math.sqrt(12));
  const { low, high, p } = tTest(difference, spread / Math.sqrt(seeds.length), seeds.length - 1, 0.95);
  return { claim, seeds, difference, interval: { low, high }, p };
}

function conclude(
  { claim, seeds, difference, interval }: Measured,
  adjustedP: number | null,
  metric: Metric,
): ClaimResult {
  const verdict = verdictOf(claim, difference, interval, adjustedP);
  const sentence = sentenceOf(claim, metric, { seeds, difference, interval, adjustedP });
  return { claim, verdict, difference, interval, adjustedP, seeds, sentence };
}

function verdictOf(
  claim: Claim,
  difference: number | null,
  interval: { low: number; high: number } | null,
  adjustedP: number | null,
): Verdict {
  if (difference === null) return "not-run";
  if (interval === null || adjustedP === null) return "inconclusive";
  if (difference > 0 && difference >= claim.margin && adjustedP < ALPHA) return "supported";
  return interval.high < claim.margin ? "contradicted" : "inconclusive";
}

/** Differences are signed so that more is better for the claim, so a metric where less is better is turned around. */
function sentenceOf(
  claim: Claim,
  metric: Metric,
  { seeds, difference, interval, adjustedP }: Pick<ClaimResult, "seeds" | "difference" | "interval" | "adjustedP">,
): string {
  const contrast = metric.higherIsBetter ? `${claim.arm} − ${claim.baseline}` : `${claim.baseline} − ${claim.arm}`;
  if (difference === null) return `${contrast} was not run: no seed has both arms.`;
  const show = (value: number) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(metric.digits)}`;
  const better = metric.higherIsBetter ? "" : " (fewer are better)";
  const estimate = `${contrast} = ${show(difference)} ${metric.label}${better}`;
  if (interval === null) return `${estimate} on one seed; at least two are needed for an interval.`;
  const p = adjustedP === null
    ? ""
    : `, Holm-adjusted p ${adjustedP < 0.001 ? "< .001" : `= ${adjustedP.toFixed(3).replace(/^0/, "")}`}`;
  const items = metric.items === null ? "" : ` over the same ${metric.items} items`;
  return `${estimate}, 95 % [${show(interval.low)}, ${
    show(interval.high)
  }], ${seeds.length} seeds, paired by seed${items}${p}; margin ${claim.margin.toFixed(metric.digits)}.`;
}

function metricOf(claim: Claim, metrics: readonly Metric[]): Metric {
  const metric = metrics.find(({ id }) => id === claim.metric);
  if (metric === undefined) {
    throw new RangeError(
      `Claim ${claim.id} names the metric ${JSON.stringify(claim.metric)}, which the scale does not have`,
    );
  }
  return metric;
}
