import type { Claim, Metric } from "../../lib/recipe/recipe.ts";
import { lastOutcomes } from "../../lib/recipe/paired_items.ts";
import { paidReplies } from "./language_model_reflector.ts";
import { curve } from "./micro_metrics.ts";

/** Test questions of the committed panel; a `--data` folder may have fewer. */
const PANEL_ITEMS = 200;

/** What is measured at api scale. */
export const API_METRICS: readonly Metric[] = [
  {
    id: "em-greedy",
    label: "EM, greedy",
    definition: "exact match on the panel's test questions at the end, temperature 0",
    higherIsBetter: true,
    quantum: 1 / PANEL_ITEMS,
    items: PANEL_ITEMS,
    itemsOf: ({ journal }) => journal.findLast((entry) => entry.type === "evaluation")?.n ?? null,
    digits: 3,
    outcomes: (run) => lastOutcomes(run, "greedy"),
    ofRun: (run) => curve(run, "greedy").at(-1)?.y ?? null,
  },
  {
    id: "calls",
    label: "calls",
    definition: "calls to the model that were paid for, evaluation and reflection included (calls.jsonl)",
    higherIsBetter: false,
    quantum: 1,
    items: null,
    digits: 0,
    ofRun: (run) => paidReplies(run).length,
  },
  {
    id: "tokens",
    label: "tokens, thousands",
    definition: "tokens of these calls, in and out, as the server counted them",
    higherIsBetter: false,
    quantum: 1,
    items: null,
    digits: 0,
    ofRun: (run) => paidReplies(run).reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0) / 1000,
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
