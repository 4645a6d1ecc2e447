import { existsSync } from "node:fs";
import { reuseOf } from "../record/reuse.ts";
import { budgetText, expandCells, type PlacedCell } from "./cells.ts";
import { configOf } from "./execute_cell.ts";
import { seconds } from "./progress_display.ts";
import { estimateTime } from "./time_estimate.ts";
import type { ReproduceOptions } from "./reproduce_options.ts";

/** What would be run: the text of `--plan`. Nothing is written. */
export async function planText(options: ReproduceOptions): Promise<string> {
  const { recipe, scale } = options;
  const cells = await expandCells(options);
  const states = await Promise.all(cells.map(stateOf));
  const toRun = cells.filter((_, index) => states[index] !== "reuse");
  const time = await estimateTime(options, toRun);
  const prerequisites = await scale.prerequisites(options.run, options.overrides);
  const arms = Map.groupBy(cells, ({ cell }) => cell.arm);
  return [
    `${recipe.title}, scale ${scale.name}: ${scale.description}`,
    "",
    `engine   ${scale.engine}`,
    `data     ${scale.data}`,
    `cells    ${cells.length}: ${arms.size} arms × ${options.seeds.length} seeds (${options.seeds.join(", ")})${
      options.isGrid ? ` × ${cells.length / arms.size / options.seeds.length} grid points` : ""
    }`,
    ...[...arms.keys()].map((arm) => `         ${arm}: ${scale.arms[arm].description}`),
    `state    ${describeStates(states)}`,
    `budget   ${budgetText(cells.map(({ cell }) => cell))}, verification included, evaluation not`,
    `time     ${
      time.seconds === null ? "unknown" : `about ${seconds(time.seconds)} with --jobs ${options.jobs}`
    } (${time.basis})`,
    ...(scale.estimate?.(toRun.map(({ cell }) => cell), options.run) ?? []),
    `output   ${options.out}/${recipe.name}/${scale.name}/`,
    "",
    "Prerequisites",
    ...(prerequisites.length === 0
      ? ["  none: everything is in this repository"]
      : prerequisites.map(({ what, isMet, remedy }) =>
        `  ${isMet ? "there" : "MISSING"}  ${what}${isMet ? "" : ` (${remedy})`}`
      )),
    "",
    "Metrics and claims, declared before running",
    ...scale.claims.map(({ id, statement, arm, baseline, metric, margin, source }) =>
      `  ${id}: ${statement} (${metric}: ${arm} − ${baseline}, margin ${margin}; source: ${source})`
    ),
    "",
    "How this protocol differs from the paper's",
    ...scale.differences.map((difference) => `  - ${difference}`),
  ].join("\n");
}

/** `6400 rollouts for each cell`, or by arm where they differ. */
function stateOf({ cell, directory }: PlacedCell): Promise<string> {
  return existsSync(directory) ? reuseOf(directory, configOf(cell).hash) : Promise.resolve("new");
}

function describeStates(states: readonly string[]): string {
  const words: Record<string, string> = {
    new: "to run",
    resume: "to resume",
    reuse: "finished, reused",
    supersede: "other settings, to be set aside and run",
  };
  const counts = [...Map.groupBy(states, (state) => state)].map(([state, all]) =>
    `${all.length} ${words[state] ?? state}`
  );
  return counts.join(", ");
}
