/**
 * A small report with everything a report can hold: three arms, three seeds, texts of models that want to do harm.
 * It shows how the pieces are fed; its numbers are invented.
 *
 * @module
 */
import { figureOf, type ReportPage } from "../../lib/report/html_page.ts";
import { differenceForest } from "../../lib/report/plots/difference_forest.ts";
import { type Curve, learningCurves } from "../../lib/report/plots/learning_curves.ts";
import { lineage, type LineageNode } from "../../lib/report/plots/lineage.ts";
import { populationWeights, type WeightLine } from "../../lib/report/plots/population_weights.ts";
import type { ClaimTable, Measurement, ResultTable } from "../../lib/report/result_table.ts";
import { randomStream } from "../../lib/random/stream.ts";

/** Texts that a model could write; each would change `document.title` or break the page if it were not escaped. */
export const HOSTILE = {
  script: `<script>document.title = "hacked"</script><img src=x onerror="document.title='hacked'">`,
  breakout: `"></svg></title></style></textarea>--><svg onload='document.title="hacked"'> ]]> &lt;b&gt;`,
  invisible: "null \u0000 escape \u001b[31m override \u202egnp.exe\u202c zero\u200bwidth \ud800 lone",
  markdown: "a | b\n# heading `code` [link](https://example.org) <!-- * @someone $x$ www.example.org",
  formula: `=HYPERLINK("https://example.org","click")`,
  long: "Decompose-the-question-".repeat(20),
};

const REPORTED = {
  where: "Reading note on the paper, Table 1 (mean of seven sets, Qwen2.5-3B)",
  quality: "secondary-note",
};

function measurement(values: readonly (number | null)[], published: number | null, digits = 0.011): Measurement {
  const known = values.filter((value) => value !== null);
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return {
    mean,
    interval: known.length > 1 ? { low: mean - digits * 1.7, high: mean + digits * 1.6 } : null,
    items: 500,
    seeds: values.map((value, seed) => ({ seed, value })),
    published: published === null ? null : { value: published, ...REPORTED },
    verdict: published === null ? undefined : "not-comparable",
  };
}

/** The main table: three arms, three metrics, one failed seed. */
export const results: ResultTable = {
  kind: "results",
  title: "Exact match at the end of the budget",
  columns: [
    {
      id: "em_greedy",
      label: "Exact match, greedy",
      protocol: "panel hop-500 (sha256 3f9c…), last checkpoint, temperature 0, one answer per item",
    },
    { id: "em_sampled", label: "Exact match, T = 1", protocol: "the same panel, mean of 4 samples per item" },
    { id: "searches", label: "Searches per question", digits: 2 },
  ],
  rows: [
    {
      arm: "inspo",
      label: "INSPO",
      cells: {
        em_greedy: measurement([0.967, 0.951, 0.983], 0.382),
        em_sampled: measurement([0.921, 0.914, 0.93], null, 0.008),
        searches: { ...measurement([2.1, 2.04, 2.13], null, 0.05), items: 500 },
      },
    },
    {
      arm: "search-r1-grpo",
      label: "Search-R1 (GRPO, static instruction)",
      cells: {
        em_greedy: measurement([0.902, 0.91, 0.921], 0.322),
        em_sampled: measurement([0.87, 0.861, null], null, 0.02),
        searches: measurement([1.72, 1.81, 1.69], null, 0.06),
      },
    },
    {
      arm: "inspo-fixed-population",
      label: "INSPO, fixed population",
      cells: {
        em_greedy: measurement([0.928, 0.931, 0.94], null),
        em_sampled: measurement([0.884, null, null], null),
      },
    },
  ],
  notes: ["Means over training seeds; an evaluation seed's error is not in them.", HOSTILE.markdown],
};

/** One claim for each verdict. */
export const claims: ClaimTable = {
  kind: "claims",
  title: "Claims of the paper",
  claims: [
    {
      id: "C1",
      statement: "Co-evolving instructions with the policy beats training the policy under one static instruction.",
      contrast: "INSPO − Search-R1 (GRPO), exact match, greedy",
      margin: 0.02,
      estimate: 0.056,
      interval: { low: 0.031, high: 0.081 },
      published: { value: 0.06, ...REPORTED },
      verdict: "supported",
      sentence:
        "The difference is +0.056 [0.031, 0.081]: its interval lies above the margin of 0.020 declared before the run.",
    },
    {
      id: "C2",
      statement: "Reflection on failures, not the mere presence of several instructions, makes the difference.",
      contrast: "INSPO − INSPO with a fixed population, exact match, greedy",
      margin: 0.01,
      estimate: 0.034,
      interval: { low: -0.004, high: 0.072 },
      published: null,
      verdict: "inconclusive",
      sentence:
        "The difference is +0.034 [−0.004, 0.072], which includes the margin of 0.010; about 5 seeds an arm would decide.",
    },
    {
      id: "C3",
      statement: "Evolved instructions need fewer searches.",
      contrast: "Search-R1 (GRPO) − INSPO, searches per question",
      margin: 0.05,
      estimate: -0.06,
      interval: { low: -0.085, high: -0.035 },
      published: { value: 0.03, where: "Paper, Fig. 4 (read off)", quality: "figure" },
      verdict: "contradicted",
      sentence: "INSPO searches more, not less: −0.060 [−0.085, −0.035].",
    },
    {
      id: "C4",
      statement: `The evolved instruction transfers to a frozen model. ${HOSTILE.script}`,
      contrast: "Evolved − seed instruction, frozen policy",
      margin: 0.02,
      estimate: null,
      interval: null,
      published: null,
      verdict: "not-run",
      sentence: "The arm inspo-frozen was not in this run.",
    },
  ],
  notes: ["Margins were declared in the recipe before any cell ran."],
};

/** Learning curves of the three arms. */
export const curves: Curve[] = [["INSPO", 0.967, 5], ["Search-R1 (GRPO, static instruction)", 0.911, 7], [
  "INSPO, fixed population",
  0.933,
  6,
]].map(
  ([label, end, speed], arm) => {
    const seeds = [0, 1, 2].map((seed) => {
      const stream = randomStream("fixture", arm, seed);
      const points = Array.from({ length: 13 }, (_, i) => ({
        rollouts: i * 1000,
        value: 0.42 + (Number(end) - 0.42) * (1 - Math.exp(-i / Number(speed) * 2)) + (stream.next() - 0.5) * 0.05,
      }));
      return { seed, points };
    });
    const points = seeds[0].points.map(({ rollouts }, i) => {
      const mean = seeds.reduce((sum, { points }) => sum + points[i].value, 0) / 3;
      return { rollouts, mean, low: mean - 0.03, high: mean + 0.03 };
    });
    return { label: String(label), points, seeds };
  },
);

const TEXTS = [
  "Answer the given question. You must conduct reasoning inside <think> and </think> first every time you get new information.",
  "First write down which entity links the two halves of the question, then search for that entity alone.",
  "Search with the shortest name that identifies the entity; never paste the whole question into the search engine.",
  HOSTILE.script,
  "When the first result does not hold the linking entity, search again with its full name before you answer.",
  HOSTILE.breakout,
  HOSTILE.invisible,
  "Copy the answer's words exactly as the document has them. Give one answer, no explanation, inside <answer> and </answer>.",
  "先搜索连接实体，再搜索最终答案。 ابحث عن الكيان الرابط أولاً",
  HOSTILE.long,
];

/** Ten instructions over sixty steps, two of them not accepted. */
export const nodes: LineageNode[] = [
  ["i0", 0, 40, [], 0.61],
  ["i1", 0, 20, ["i0"], 0.44],
  ["i2", 0, null, ["i0"], 0.78],
  ["i3", 10, 30, ["i0"], 0.5],
  ["i4", 20, null, ["i2"], 0.96],
  ["i5", 20, -1, ["i2", "i0"], 0.31],
  ["i6", 30, 50, ["i2"], 0.7],
  ["i7", 40, null, ["i4"], 0.9],
  ["i8", 50, null, ["i4", "i2"], 0.88],
  ["i9", 50, -1, ["i4"], 0.22],
].map(([id, born, died, parents, score], index) => ({
  id: id as string,
  text: TEXTS[index],
  born: born as number,
  died: died === -1 ? null : died as number | null,
  parents: parents as string[],
  isAccepted: died !== -1,
  score: score as number,
  isEvaluated: id === "i4",
}));

/** Weights of the eight that joined. */
export const weights: WeightLine[] = nodes.filter(({ isAccepted }) => isAccepted).map(
  ({ id, text, born, died, score }) => {
    const stream = randomStream("fixture weights", id);
    const end = died ?? 60;
    const points = Array.from({ length: end - born + 1 }, (_, i) => ({
      step: born + i,
      weight: 0.45 + ((score ?? 0) - 0.45) * (i / (end - born || 1)) + (stream.next() - 0.5) * 0.03,
    }));
    return { id, text, points };
  },
);

/** The whole page. */
export const page: ReportPage = {
  title: "INSPO at micro scale",
  subtitle: "Agentic Policy Optimization via Instruction-Policy Co-Evolution (arXiv 2512.01945)",
  summary:
    "One of four claims is supported, one contradicted, one undecided with three seeds, one was not run. Numbers are of a micro model in a generated world: only signs and orderings compare with the paper.",
  facts: [
    { label: "Scale", value: "micro" },
    { label: "Cells", value: "9 finished, 1 failed" },
    { label: "Budget", value: "12,000 rollouts a cell" },
    { label: "Made by", value: "deno task reproduce inspo" },
  ],
  claims,
  contrasts: [],
  results: [results],
  figures: [
    figureOf({
      id: "curves",
      title: "Learning curves",
      caption:
        "Exact match on the panel against rollouts. Lines are means over three seeds, bands 95 % t intervals, thin lines single seeds; nothing is smoothed.",
      draw: (width) =>
        learningCurves(curves, {
          title: "Learning curves",
          yLabel: "Exact match, greedy (fraction)",
          limits: [0, 1],
          width,
        }),
    }),
    figureOf({
      id: "forest",
      title: "Differences",
      caption:
        "Estimated differences with 95 % intervals. Solid vertical line: no difference. Dashed: the margin. Diamond: the paper's own difference.",
      draw: (width) => differenceForest(claims.claims, { title: "Differences behind the claims", width }),
    }),
    figureOf({
      id: "weights",
      title: "Weights of instructions",
      caption:
        "Seed 0. A cross is where an instruction was dropped; the thick line is the instruction that evaluation read at that time.",
      draw: (width) =>
        populationWeights(weights, {
          title: "Weights of instructions",
          evaluation: [{ step: 0, id: "i0" }, { step: 20, id: "i2" }, { step: 34, id: "i4" }],
          width,
        }),
    }),
    figureOf({
      id: "lineage",
      title: "Descent of instructions",
      caption:
        "Seed 0. Each lane is an instruction; a red cross failed verification; dotted joints are further parents. The bold one was read by the final evaluation.",
      draw: (width) => lineage(nodes, { title: "Descent of instructions", lastStep: 60, width }),
    }),
  ],
  texts: {
    title: "Evolved instructions",
    intro: "Every text that was proposed in seed 0, in order of birth.",
    rows: nodes.map(({ id, text, born, parents, isAccepted, score, isEvaluated }) => ({
      id,
      text,
      facts: [`step ${born}`, parents.length > 0 ? `from ${parents.join(", ")}` : "seed", `weight ${score}`],
      status: isEvaluated ? "read by the final evaluation" : isAccepted ? "accepted" : "not accepted",
      isEmphasised: isEvaluated,
    })),
  },
  runs: ["inspo", "search-r1-grpo", "inspo-fixed-population"].flatMap((arm) =>
    [0, 1, 2].map((seed) => ({
      arm,
      seed,
      state: arm === "inspo-fixed-population" && seed === 2 ? "failed" as const : "finished" as const,
      command: `deno run -A scripts/reproduce.ts inspo --scale micro --arm ${arm} --seed ${seed} --out results`,
      commit: "4f0c1d2e9a7b",
      isModified: seed === 1,
      configHash: "9b1d6c0f3a52e871",
      files: ["config.json", "environment.json", "journal.jsonl", "samples.jsonl"].map((name) => ({
        name,
        path: `${arm}/seed-${seed}/${name}`,
      })),
    }))
  ),
  howToRead: [
    "A claim is supported if the whole interval of the difference lies above the margin, contradicted if it lies below zero, and inconclusive otherwise. With three seeds inconclusive is the usual outcome.",
    "Published numbers are of the paper's models and data. At micro scale they stand beside ours for orientation and are never compared.",
  ],
  provenance: [
    { label: "coevo", value: "0.1.0, commit 4f0c1d2e9a7b" },
    { label: "Panel", value: "hop-500, sha256 3f9c0d…" },
    { label: "Hardware", value: "2 cores, 8 GiB, no GPU" },
    { label: "Generated", value: "2026-01-31T12:00:00Z" },
  ],
};
