/**
 * `deno task readme [--out DIR]`: writes the tables and the picture of README.md and recipes/inspo/README.md from the
 * runs of `deno task reproduce inspo`, with their date and commit. Text between `<!-- begin NAME -->` and
 * `<!-- end NAME -->` is replaced.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { nonEmpty, parseArguments, UsageError } from "../lib/recipe/command_line.ts";
import { summariesOf } from "../lib/recipe/command.ts";
import { EXIT } from "../lib/recipe/exit_code.ts";
import { runScript } from "../lib/recipe/run_script.ts";
import { expandCells } from "../lib/recipe/cells.ts";
import { curveFigures } from "../lib/recipe/report_page.ts";
import { gridTables } from "../lib/recipe/grid_tables.ts";
import { currentRuns, type PlacedRun } from "../lib/recipe/reproduce.ts";
import { type ReproduceOptions, reproduceOptions } from "../lib/recipe/reproduce_options.ts";
import { toMarkdown } from "../lib/report/markdown_table.ts";
import { standaloneSvg } from "../lib/report/plots/standalone_svg.ts";
import { loadRecipe } from "../recipes/index.ts";
import { MICRO_LOOP } from "../recipes/inspo/micro_settings.ts";

const COMMAND = "deno task reproduce inspo";
const PICTURE = "docs/inspo_learning_curves.svg";

await runScript(async (args, { stdout }) => {
  const { flags, words } = parseArguments(args, { out: { value: "DIR", help: "results root", parse: nonEmpty } });
  if (words.length > 0) throw new UsageError("usage: deno task readme [--out DIR]");
  const options = reproduceOptions(
    await loadRecipe("inspo"),
    ["--out", flags.out as string | undefined ?? "results"],
    1,
  );
  const wanted = new Set((await expandCells(options)).map(({ directory }) => directory));
  const all = await currentRuns(options);
  const runs = all.filter(({ placed }) => wanted.has(placed.directory));
  if (runs.length < wanted.size) {
    throw new UsageError(`${runs.length} of ${wanted.size} runs are there: run ${COMMAND} first`);
  }
  const cells = runs.map(({ placed }) => ({ placed, result: undefined }));
  const [main] = summariesOf(options, { cells, runs });
  const [everything] = summariesOf({ ...options, arms: Object.keys(options.scale.arms) }, { cells, runs: all });

  const { cpu, cores } = runs[0].run.environment.hardware;
  const seconds = runs.reduce((sum, { run }) => sum + run.timing.reduce((total, row) => total + row.seconds, 0), 0);
  const origin = `${originOf(COMMAND, runs)} ${cpu}, ${cores} cores; ${
    (seconds / runs.length).toFixed(1)
  } s a cell on average.`;
  writeFileSync(PICTURE, standaloneSvg(curveFigures(options.scale, main)[0].wide));
  replaceBlock(
    "README.md",
    "inspo",
    [origin, "", toMarkdown(main.summary.results), toMarkdown(main.summary.claims)].join("\n"),
  );
  replaceBlock(
    "recipes/inspo/README.md",
    "inspo",
    [
      originOf(`${COMMAND} --arms all`, all),
      "",
      toMarkdown(everything.summary.results),
      toMarkdown(everything.summary.claims),
    ].join("\n"),
  );
  const more = await moreSeedsBlock(options);
  if (more !== null) replaceBlock("recipes/inspo/README.md", "more-seeds", more);
  const grid = await gridBlock(options);
  if (grid !== null) replaceBlock("recipes/inspo/README.md", "grid", grid);
  stdout.write(`README.md, recipes/inspo/README.md, ${PICTURE}\n`);
  return EXIT.done;
});

/** The contrast of the paper on more seeds, or null if not all of its runs are there. */
async function moreSeedsBlock(options: ReproduceOptions): Promise<string | null> {
  const seeds = Array.from({ length: 20 }, (_, index) => index + 1);
  const moreOptions = { ...options, seeds, arms: ["search-r1-grpo", "inspo"] };
  const wanted = await expandCells(moreOptions);
  const directories = new Set(wanted.map(({ directory }) => directory));
  const runs = (await currentRuns(moreOptions)).filter(({ placed }) => directories.has(placed.directory));
  if (runs.length < wanted.length) return null;
  const cells = wanted.map((placed) => ({ placed, result: undefined }));
  const [{ summary }] = summariesOf(moreOptions, { cells, runs });
  const origin = originOf(`${COMMAND} --seeds 20 --arms inspo,search-r1-grpo`, runs);
  replaceBlock("recipes/inspo/README.md", "progress", [origin, "", progressTable(options, runs)].join("\n"));
  return [origin, "", toMarkdown(summary.claims)].join("\n");
}

/** EM over rollouts: mean and range over seeds. Evaluations are put to the nearest point of the schedule. */
function progressTable({ scale }: ReproduceOptions, runs: readonly PlacedRun[]): string {
  const arms = ["search-r1-grpo", "inspo"];
  const interval = MICRO_LOOP.evaluationInterval;
  const cells = runs.flatMap(({ placed, run }) =>
    scale.curves[0].ofRun(run).map(({ rollouts, value }) => ({
      arm: placed.cell.arm,
      at: Math.round(rollouts / interval) * interval,
      value,
    }))
  );
  const show = (arm: string, at: number) => {
    const values = cells.filter((cell) => cell.arm === arm && cell.at === at).map(({ value }) => value);
    if (values.length === 0) return "–";
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return `${mean.toFixed(2)} (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)})`;
  };
  const points = [...new Set(cells.map(({ at }) => at))].sort((a, b) => a - b);
  return [
    `| rollouts | ${arms.join(" | ")} |`,
    `| --: | ${arms.map(() => ":--").join(" | ")} |`,
    ...points.map((at) => `| ${at} | ${arms.map((arm) => show(arm, at)).join(" | ")} |`),
  ].join("\n");
}

/** The contrasts over the grid, or null if not all of its runs are there. */
async function gridBlock(options: ReproduceOptions): Promise<string | null> {
  const { scale } = options;
  if (scale.grid === null) return null;
  const gridOptions = { ...options, isGrid: true, arms: scale.grid.arms, seeds: scale.grid.seeds };
  const wanted = await expandCells(gridOptions);
  const directories = new Set(wanted.map(({ directory }) => directory));
  const runs = (await currentRuns(gridOptions)).filter(({ placed }) => directories.has(placed.directory));
  if (runs.length < wanted.length) return null;
  const cells = wanted.map((placed) => ({ placed, result: undefined }));
  const tables = gridTables(scale, summariesOf(gridOptions, { cells, runs }));
  return [originOf(`${COMMAND} --grid`, runs), "", ...tables.map(toMarkdown)].join("\n");
}

/** The line above a table: command, date, commit. */
function originOf(command: string, runs: readonly PlacedRun[]): string {
  const commits = [...new Set(runs.map(({ run }) => run.environment.commit.slice(0, 12)))].join(", ");
  const isModified = runs.some(({ run }) => run.environment.diffHash !== null);
  const dates = [...new Set(runs.map(({ run }) => run.environment.startedAt.slice(0, 10)))].join(", ");
  return `Output of \`${command}\`, ${dates}, commit ${commits}${isModified ? " with uncommitted changes" : ""}.`;
}

function replaceBlock(path: string, name: string, content: string): void {
  const begin = `<!-- begin ${name} -->`;
  const end = `<!-- end ${name} -->`;
  const text = readFileSync(path, "utf8");
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new UsageError(`${path} has no ${begin} … ${end}`);
  writeFileSync(path, `${text.slice(0, from + begin.length)}\n\n${content.trim()}\n\n${text.slice(to)}`);
}
