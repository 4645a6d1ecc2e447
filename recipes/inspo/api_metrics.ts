import type { Claim, Metric } from "../../lib/recipe/recipe.ts";
import { curve } from "./micro_metrics.ts";

/** Test questions of the panel. */
const ITEMS = 200;

/** What is measured at api scale. */
export const API_METRICS: readonly Metric[] = [
  {
    id: "em-greedy",
    label: "EM, greedy",
    definition: "exact match on the panel's test questions at the end, temperature 0",
    higherIsBetter: true,
    quantum: 1 / ITEMS,
    items: ITEMS,
    digits: 3,
    ofRun: (run) => curve(run, "greedy").at(-1)?.y ?? null,
  },
];

/** The part of the paper's statement that a frozen policy can bear out. */
export const API_CLAIMS: readonly Claim[] = [
  {
    id: "text-alone",
    statement: "Evolving the instruction alone improves a frozen model",
    source: "implied by the method; the paper trains the policy too",
    metric: "em-greedy",
    arm: "inspo-no-rl",
    baseline: "static-instruction",
    margin: 0.02,
    published: null,
  },
];
