import { relative } from "node:path";
import { reportPage } from "../report/html_page.ts";
import { figureOf } from "../report/page/figures.ts";
import type { Fact, Figure, ReportPage, RunEntry } from "../report/page/report_page.ts";
import { differenceForest } from "../report/plots/difference_forest.ts";
import { type Curve, learningCurves, learningCurvesCaption } from "../report/plots/learning_curves.ts";
import { tInterval } from "../stats/t_interval.ts";
import { budgetText, hasOneBudget, scaleDirectory } from "./cells.ts";
import type { PointSummary } from "./command.ts";
import { gridTables } from "./grid_tables.ts";
import type { Curves, Scale } from "./recipe.ts";
import type { PlacedRun, ReproduceResult } from "./reproduce.ts";
import type { ReproduceOptions } from "./reproduce_options.ts";
import { VERDICT_NOTE } from "./summarize.ts";
import type { ClaimResult } from "./verdict.ts";

/** Files of a run that a reader may want. */
const RUN_FILES = ["journal.jsonl", "samples.jsonl", "timing.jsonl", "config.json", "environment.json", "status.json"];

/** The report of a command as one HTML file. */
export async function commandReport(
  options: ReproduceOptions,
  command: string,
  summaries: readonly PointSummary[],
  result: ReproduceResult,
): Promise<string> {
  const { recipe, scale } = options;
  const [main] = summaries;
  const runs = summaries.flatMap((summary) => summary.runs);
  const evolution = await recipe.evolution(main.runs.map(({ run }) => run));
  const page: ReportPage = {
    title: recipe.title,
    subtitle: `${recipe.paper} · scale ${scale.name}: ${scale.description}`,
    summary: summaryLine(main.summary.judged, result),
    facts: factsOf(options, command, result),
    claims: main.summary.claims.claims.length === 0 ? null : main.summary.claims,
    results: summaries.map(({ summary }) => summary.results),
    contrasts: gridTables(scale, summaries),
    figures: [...curveFigures(scale, main), ...forestFigure(main), ...evolution.figures],
    texts: evolution.texts,
    runs: runs.map((placed) => runEntry(options, placed)),
    howToRead: [...HOW_TO_READ, budgetNote(result)],
    provenance: provenanceOf(scale, runs),
  };
  return reportPage(page);
}

const HOW_TO_READ = [
  "Each number is a mean over seeds; the interval is Student's t over seeds, 95 %. Equal seeds share world, training tasks and test items in every arm, so claims are judged on differences paired by seed.",
  VERDICT_NOTE,
  "Published numbers are shown with their source for orientation. At this scale only contrasts between arms are judged, never absolute values.",
];

function budgetNote({ cells }: ReproduceResult): string {
  const isEqual = hasOneBudget(cells.map(({ placed }) => placed.cell));
  const budgets = isEqual ? "All arms have the same budget of rollouts" : "The arms have the budgets named at the top";
  return `${budgets}. Verification of new instructions is charged to it; evaluation is not.`;
}

function summaryLine(judged: readonly ClaimResult[], { cells }: ReproduceResult): string {
  const counts = [...Map.groupBy(judged, ({ verdict }) => verdict)].map(([verdict, all]) => `${all.length} ${verdict}`);
  const failed = cells.filter(({ result }) => result?.outcome === "failed").length;
  const claims = counts.length === 0
    ? "No claims were judged."
    : `Of ${judged.length} declared claims: ${counts.join(", ")}.`;
  return failed === 0 ? claims : `${claims} ${failed} of ${cells.length} cells failed.`;
}

function factsOf({ scale, seeds }: ReproduceOptions, command: string, { cells }: ReproduceResult): Fact[] {
  return [
    { label: "Command", value: command },
    { label: "Engine", value: scale.engine },
    { label: "Data", value: scale.data },
    { label: "Cells", value: `${cells.length}, seeds ${seeds.join(", ")}` },
    { label: "Budget", value: budgetText(cells.map(({ placed }) => placed.cell)) },
  ];
}

/** The learning curves of a scale. */
export function curveFigures(scale: Scale, { runs }: PointSummary): Figure[] {
  return scale.curves.flatMap((curves) => {
    const drawn = curvesOf(scale, curves, runs);
    if (drawn.every(({ points }) => points.length === 0)) return [];
    return [figureOf({
      id: curves.id,
      title: curves.title,
      caption: learningCurvesCaption(drawn),
      draw: (width) =>
        learningCurves(drawn, {
          title: curves.title,
          width,
          yLabel: curves.yLabel,
          xLabel: "Rollouts charged",
          limits: [0, 1],
        }),
    })];
  });
}

/** Arms evaluate at slightly different rollouts, so evaluations of the seeds of an arm are matched by their order. */
function curvesOf(scale: Scale, curves: Curves, runs: readonly PlacedRun[]): Curve[] {
  return Object.keys(scale.arms).flatMap((arm) => {
    const seeds = runs.filter(({ placed }) => placed.cell.arm === arm)
      .map(({ placed, run }) => ({ seed: placed.cell.seed, points: curves.ofRun(run) }));
    if (seeds.length === 0) return [];
    const length = Math.min(...seeds.map(({ points }) => points.length));
    const points = Array.from({ length }, (_, index) => {
      const { mean, low, high } = tInterval(seeds.map(({ points }) => points[index].value));
      const rollouts = seeds.reduce((sum, { points }) => sum + points[index].rollouts, 0) / seeds.length;
      return {
        rollouts,
        mean,
        low: low === null ? null : Math.max(0, low),
        high: high === null ? null : Math.min(1, high),
      };
    });
    return [{ label: arm, points, seeds }];
  });
}

function forestFigure({ summary }: PointSummary): Figure[] {
  const claims = summary.claims.claims.filter(({ interval, margin }) => interval !== null && margin < 1);
  if (claims.length === 0) return [];
  return [figureOf({
    id: "claims",
    title: "Claims as differences",
    caption:
      "Difference with its 95 % interval, paired by seed; the dashed mark is the margin declared before running.",
    draw: (width) =>
      differenceForest(claims, { title: "Claims as differences", width, xLabel: "Difference (fraction)" }),
  })];
}

function runEntry(options: ReproduceOptions, { placed, run }: PlacedRun): RunEntry {
  const { cell, directory } = placed;
  const folder = relative(scaleDirectory(options), directory).replaceAll("\\", "/");
  return {
    arm: cell.arm,
    seed: cell.seed,
    state: run.status?.state ?? "finished",
    command: run.environment.command,
    commit: run.environment.commit,
    isModified: run.environment.diffHash !== null,
    configHash: run.config.hash,
    files: RUN_FILES.map((name) => ({ name, path: `${folder}/${name}` })),
  };
}

function provenanceOf(scale: Scale, runs: readonly PlacedRun[]): Fact[] {
  const [first] = runs;
  const differences = scale.differences.map((value) => ({ label: "Differs from the paper", value }));
  if (first === undefined) return differences;
  const { environment } = first.run;
  const { cpu, cores, memoryGiB, os } = environment.hardware;
  return [
    { label: "Started", value: environment.startedAt },
    {
      label: "Code",
      value: `coevo ${environment.coevo}, commit ${environment.commit}${
        environment.diffHash === null ? "" : " with uncommitted changes"
      }`,
    },
    {
      label: "Versions",
      value: Object.entries(environment.versions).map(([name, version]) => `${name} ${version}`).join(", "),
    },
    { label: "Hardware", value: `${cpu}, ${cores} cores, ${Math.round(memoryGiB)} GiB, ${os}` },
    ...differences,
  ];
}
