import { randomStream } from "../random/stream.ts";
import type { RunRecord } from "../record/read_run.ts";
import { mcnemarMidP } from "../stats/mcnemar.ts";
import { pairedDifference } from "../stats/paired_difference.ts";
import type { Claim, Metric } from "./recipe.ts";

/** Per-item rewards of a run's last evaluation with one way of decoding, by item. */
export function lastOutcomes({ samples }: RunRecord, decoding: string): ReadonlyMap<string, number> {
  const last = samples.reduce(
    (latest, row) => row.decoding === decoding ? Math.max(latest, row.evaluation) : latest,
    -1,
  );
  return new Map(samples.filter(({ evaluation }) => evaluation === last).map(({ item, reward }) => [item, reward]));
}

/**
 * What one seed can say about a claim: the difference over the items that both arms were tested on, with a bootstrap
 * interval. It speaks about new items for these two policies and knows nothing of other seeds, so no verdict comes of it.
 *
 * @returns null where the metric has no outcomes by item, or not exactly one seed has both arms
 */
export function pairedItemsSentence(claim: Claim, metric: Metric, runs: readonly RunRecord[]): string | null {
  if (metric.outcomes === undefined) return null;
  const of = (arm: string) => runs.filter(({ config }) => config.arm === arm);
  const pairs = of(claim.arm).flatMap((run) => {
    const other = of(claim.baseline).find(({ config }) => config.seed === run.config.seed);
    return other === undefined ? [] : [{ run, other }];
  });
  if (pairs.length !== 1) return null;
  const [{ run, other }] = pairs;
  const ours = metric.outcomes(run);
  const theirs = metric.outcomes(other);
  const items = [...ours.keys()].filter((item) => theirs.has(item)).sort();
  if (items.length === 0) return null;
  const first = items.map((item) => ours.get(item) as number);
  const second = items.map((item) => theirs.get(item) as number);
  const head = `Over the ${items.length} items of seed ${run.config.seed}`;
  const onlyOurs = first.filter((reward, index) => reward > second[index]).length;
  const onlyTheirs = first.filter((reward, index) => reward < second[index]).length;
  if (onlyOurs + onlyTheirs === 0) return `${head} no item differs.`;
  const { difference, low, high } = pairedDifference(first, second, {
    stream: randomStream(claim.id, run.config.seed, "paired items"),
  });
  const show = (value: number) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(metric.digits)}`;
  const p = mcnemarMidP(onlyOurs, onlyTheirs).toFixed(3).replace(/^0/, "");
  return `${head}: ${show(difference)}, 95 % [${show(low)}, ${
    show(high)
  }] (paired bootstrap); ${onlyOurs} only ${claim.arm}, ${onlyTheirs} only ${claim.baseline}, McNemar mid-p ${p}. This says nothing about other seeds.`;
}
