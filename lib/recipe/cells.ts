import { join } from "node:path";
import { runDirectory } from "../record/run_directory.ts";
import { UsageError } from "./command_line.ts";
import type { Cell, Overrides } from "./recipe.ts";
import type { ReproduceOptions } from "./reproduce_options.ts";

/** A cell with the directory of its run. */
export interface PlacedCell {
  cell: Cell;
  /** Relative to the working directory. */
  directory: string;
  /** `inspo seed 3`, with the variant if there is one. */
  name: string;
  /** The grid's point in words; empty without a grid. Cells of one point are compared with each other. */
  point: string;
}

/** All cells of a command, seed by seed, so that a stopped command leaves whole comparisons behind. */
export async function expandCells(options: ReproduceOptions): Promise<PlacedCell[]> {
  const cells: PlacedCell[] = [];
  for (const overrides of variants(options)) {
    for (const seed of options.seeds) {
      for (const arm of options.arms) cells.push(await placeCell(options, arm, seed, overrides));
    }
  }
  return cells;
}

async function placeCell(
  options: ReproduceOptions,
  arm: string,
  seed: number,
  overrides: Overrides,
): Promise<PlacedCell> {
  const { recipe, scale, out } = options;
  const resolved = await scale.resolve(arm, seed, overrides, options.run).catch((error) => {
    throw error instanceof RangeError ? new UsageError(error.message, { cause: error }) : error;
  });
  const cell: Cell = { recipe: recipe.name, scale: scale.name, arm, seed, ...resolved };
  const directory = runDirectory({ out, recipe: cell.recipe, scale: cell.scale, arm, seed, variant: cell.variant });
  const suffix = Object.entries(cell.variant).map(([key, value]) => `${key}=${value}`).join(",");
  const point = Object.entries(overrides.grid ?? {}).map(([axis, value]) => `${axis} ${value}`).join(", ");
  return { cell, directory, point, name: `${arm}${suffix === "" ? "" : `@${suffix}`} seed ${seed}` };
}

/** The command's overrides, once for each point of the grid if there is one. */
function variants({ overrides, isGrid, scale }: ReproduceOptions): Overrides[] {
  if (!isGrid || scale.grid === null) return [overrides];
  let points: Record<string, number>[] = [{}];
  for (const [axis, values] of Object.entries(scale.grid.axes)) {
    points = points.flatMap((point) => values.map((value) => ({ ...point, [axis]: value })));
  }
  return points.map((grid) => ({ ...overrides, grid }));
}

/** The folder of a scale's runs. */
export function scaleDirectory({ out, recipe, scale }: Pick<ReproduceOptions, "out" | "recipe" | "scale">): string {
  return join(out, recipe.name, scale.name);
}

/** The budget of some cells in words: one for all, or arm by arm. @param cells at least one */
export function budgetText(cells: readonly Cell[]): string {
  const budgets = new Map(cells.map(({ arm, budget }) => [arm, budget]));
  if (hasOneBudget(cells)) return `${cells[0].budget} rollouts for each cell`;
  return `${[...budgets].map(([arm, budget]) => `${arm} ${budget}`).join(", ")} rollouts a cell`;
}

/** Whether all cells may make the same number of rollouts. */
export function hasOneBudget(cells: readonly Cell[]): boolean {
  return new Set(cells.map(({ budget }) => budget)).size === 1;
}
