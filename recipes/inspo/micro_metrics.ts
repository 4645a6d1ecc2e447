import { SPLIT_SIZES } from "../../lib/environment/hop_search/questions.ts";
import { lastOutcomes } from "../../lib/recipe/paired_items.ts";
import type { Claim, Curves, Metric } from "../../lib/recipe/recipe.ts";
import type { RunRecord } from "../../lib/record/read_run.ts";
import { MICRO_LOOP } from "./micro_settings.ts";
import { publishedDifference } from "./published.ts";
import { areaUnderCurve, type CurvePoint } from "../../lib/stats/area_under_curve.ts";
import { effortToThreshold } from "../../lib/stats/restricted_mean.ts";

const items = SPLIT_SIZES.test;
const quantum = 1 / items;

/** EM that counts as having learned the task. */
export const EM_THRESHOLD = 0.8;

/** What is measured at micro scale; declared before anything is run. */
export const MICRO_METRICS: readonly Metric[] = [
  {
    id: "em-sampled",
    label: "EM, T = 1",
    definition: "exact match on the 200 test questions at the end, sampled at temperature 1",
    higherIsBetter: true,
    quantum,
    items,
    digits: 3,
    outcomes: (run) => lastOutcomes(run, "T=1"),
    ofRun: (run) => curve(run, "T=1").at(-1)?.y ?? null,
  },
  {
    id: "em-greedy",
    label: "EM, greedy",
    definition: "the same, decoded greedily",
    higherIsBetter: true,
    quantum,
    items,
    digits: 3,
    outcomes: (run) => lastOutcomes(run, "greedy"),
    ofRun: (run) => curve(run, "greedy").at(-1)?.y ?? null,
  },
  {
    id: "auc",
    label: "AUC",
    definition:
      "mean height of the curve of EM at T = 1 over rollouts, from the first evaluation to the last (trapezoid)",
    higherIsBetter: true,
    quantum,
    items,
    digits: 3,
    ofRun: (run) => curve(run, "T=1").length < 2 ? null : areaUnderCurve(curve(run, "T=1")),
  },
  {
    id: "rollouts-to-0.8",
    label: "rollouts to EM .8",
    definition:
      "rollouts at the first evaluation with EM at T = 1 of at least 0.8; the budget where it never came (censored)",
    higherIsBetter: false,
    quantum: MICRO_LOOP.evaluationInterval,
    items: null,
    digits: 0,
    isCensored: (run) => effortToThreshold(curve(run, "T=1"), EM_THRESHOLD) === null,
    ofRun: (run) => {
      const points = curve(run, "T=1");
      return points.length === 0 ? null : effortToThreshold(points, EM_THRESHOLD) ?? budgetOf(run);
    },
  },
];

/** The paper's statements as contrasts at an equal budget of rollouts; declared before anything is run. */
export const MICRO_CLAIMS: readonly Claim[] = [
  {
    id: "gain-final",
    statement: "INSPO ends above GRPO with a static instruction (sampled)",
    source: "the paper's abstract; the number is from a third-party note",
    metric: "em-sampled",
    arm: "inspo",
    baseline: "search-r1-grpo",
    margin: 0.02,
    published: publishedDifference("gain-3b"),
  },
  {
    id: "gain-final-greedy",
    statement: "INSPO ends above GRPO with a static instruction (greedy)",
    source: "as gain-final",
    metric: "em-greedy",
    arm: "inspo",
    baseline: "search-r1-grpo",
    margin: 0.02,
    published: publishedDifference("gain-3b"),
  },
  {
    id: "gain-auc",
    statement: "INSPO learns faster than GRPO with a static instruction",
    source: "our question: the paper's training curves were not available to us",
    metric: "auc",
    arm: "inspo",
    baseline: "search-r1-grpo",
    margin: 0.02,
    published: null,
  },
  {
    id: "gain-speed",
    statement: "INSPO needs fewer rollouts to EM 0.8",
    source: "as gain-auc",
    metric: "rollouts-to-0.8",
    arm: "inspo",
    baseline: "search-r1-grpo",
    margin: 400,
    published: null,
  },
  {
    id: "evolution-needed",
    statement: "Evolution is needed: INSPO ends above a fixed population",
    source: "third-party note on the ablation table",
    metric: "em-sampled",
    arm: "inspo",
    baseline: "inspo-fixed-population",
    margin: 0.02,
    published: publishedDifference("evolution-needed"),
  },
  {
    id: "reflection-matters",
    statement: "The diagnosis matters: INSPO learns faster than the same evolution with random words",
    source: "our question",
    metric: "auc",
    arm: "inspo",
    baseline: "inspo-random-edits",
    margin: 0.02,
    published: null,
  },
  {
    id: "verification-needed",
    statement: "Verification is needed: INSPO ends above the same without it",
    source: "third-party note, no number",
    metric: "em-sampled",
    arm: "inspo",
    baseline: "inspo-no-verification",
    margin: 0.02,
    published: null,
  },
  {
    id: "top1-parent",
    statement: "Evolving from the top instruction beats several parents",
    source: "third-party note, no number",
    metric: "em-sampled",
    arm: "inspo",
    baseline: "inspo-multi-parent",
    margin: 0.02,
    published: null,
  },
  {
    id: "co-evolution",
    statement: "Policy and instruction together beat the instruction alone",
    source: "the premise of the paper's title; no number found",
    metric: "em-sampled",
    arm: "inspo",
    baseline: "inspo-no-rl",
    margin: 0.02,
    published: null,
  },
];

/** EM over rollouts with one way of decoding. */
export function curve({ journal }: RunRecord, decoding: string): CurvePoint[] {
  return journal.flatMap((entry) =>
    entry.type === "evaluation" && entry.decoding === decoding && entry.metrics.em !== null &&
      entry.metrics.em !== undefined
      ? [{ x: entry.rollouts, y: entry.metrics.em }]
      : []
  );
}

function budgetOf({ config }: RunRecord): number {
  return config.settings.budget as number;
}

/** A learning curve for one way of decoding. */
export function emCurves(decoding: string, title: string): Curves {
  return {
    id: `em-${decoding.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}`,
    title,
    yLabel: `Exact match, ${decoding}`,
    ofRun: (run) => curve(run, decoding).map(({ x, y }) => ({ rollouts: x, value: y })),
  };
}
