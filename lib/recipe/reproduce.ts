import { existsSync } from "node:fs";
import { acquireLock } from "../record/lock.ts";
import { readRun, type RunRecord } from "../record/read_run.ts";
import { prepareDirectory, type Reuse, reuseOf } from "../record/reuse.ts";
import { type CellResult, startCell } from "./cell_process.ts";
import { expandCells, type PlacedCell, scaleDirectory } from "./cells.ts";
import { configOf } from "./execute_cell.ts";
import { progressDisplay, type ProgressOutput } from "./progress_display.ts";
import type { ReproduceOptions } from "./reproduce_options.ts";
import { schedule } from "./schedule.ts";

/** What `reproduce` needs from its process. */
export interface ReproduceContext {
  /** The user's command, as it is recorded and shown for resuming. */
  command: string;
  progress: ProgressOutput;
  /** Registers what to do on SIGINT or SIGTERM. */
  onStop(stop: () => void): void;
}

/** A finished run with its place in the command. */
export interface PlacedRun {
  placed: PlacedCell;
  run: RunRecord;
}

/** How the cells of a command ended. */
export interface ReproduceResult {
  cells: readonly { placed: PlacedCell; result: CellResult | { outcome: "reused" } | undefined }[];
  /** Finished runs of the current settings: the requested cells, and other arms of the scale with the same seeds. */
  runs: readonly PlacedRun[];
}

/**
 * Runs the cells of a command: finished ones with equal settings are reused, unfinished ones resumed, those with other
 * settings set aside. Every cell has a process of its own; a failed cell does not stop the others.
 *
 * @throws {AlreadyRunningError} if another command is at work on this scale of the output folder
 */
export async function reproduce(options: ReproduceOptions, context: ReproduceContext): Promise<ReproduceResult> {
  const lock = await acquireLock(scaleDirectory(options));
  try {
    const display = progressDisplay(0, context.progress);
    await options.scale.prepare((await expandCells(options)).map(({ cell }) => cell), display.line);
    const cells = await expandCells(options);
    const results = await runCells(cells, options, context);
    return {
      cells: cells.map((placed, index) => ({ placed, result: results[index] })),
      runs: await currentRuns(options),
    };
  } finally {
    await lock.release();
  }
}

async function runCells(
  cells: readonly PlacedCell[],
  options: ReproduceOptions,
  context: ReproduceContext,
): Promise<ReproduceResult["cells"][number]["result"][]> {
  const plans: { placed: PlacedCell; reuse: Reuse }[] = [];
  for (const placed of cells) {
    const reuse = await prepareDirectory(placed.directory, {
      out: options.out,
      hash: configOf(placed.cell).hash,
      isFresh: options.isFresh,
    });
    plans.push({ placed, reuse });
  }
  const toRun = plans.filter(({ reuse }) => reuse !== "reuse").map(({ placed }) => placed);
  const reused = plans.length - toRun.length;
  const display = progressDisplay(toRun.length, context.progress);
  if (reused > 0) {
    display.line(`${reused} of ${plans.length} cells are finished already and reused (--fresh runs them again)`);
  }
  const { results, stop } = schedule(toRun, options.jobs, (placed) => {
    display.started(placed.name);
    const order = { cell: placed.cell, directory: placed.directory, command: context.command, options: options.run };
    const process = startCell(order, (progress) => display.progress(placed.name, progress));
    void process.result.then((result) =>
      display.ended(placed.name, result.outcome === "failed" ? `failed: ${result.message}` : result.outcome)
    );
    return process;
  });
  context.onStop(stop);
  const ended = await results;
  display.close();
  const byDirectory = new Map(toRun.map(({ directory }, index) => [directory, ended[index]]));
  return plans.map(({ placed, reuse }) =>
    reuse === "reuse" ? { outcome: "reused" } : byDirectory.get(placed.directory)
  );
}

/** Finished runs with current settings of every arm of the scale, for the requested seeds and variants. */
export async function currentRuns(options: ReproduceOptions): Promise<PlacedRun[]> {
  const arms = Object.keys(options.scale.arms);
  const wanted = await expandCells({ ...options, arms });
  const runs: PlacedRun[] = [];
  for (const placed of wanted) {
    const { cell, directory } = placed;
    if (!existsSync(directory)) continue;
    if (await reuseOf(directory, configOf(cell).hash) === "reuse") runs.push({ placed, run: await readRun(directory) });
  }
  return runs;
}

/** Whether any cell failed. */
export function hasFailures({ cells }: ReproduceResult): boolean {
  return cells.some(({ result }) => result?.outcome === "failed");
}
