import { existsSync } from "node:fs";
import { acquireLock } from "../record/lock.ts";
import { readRun, type RunRecord } from "../record/read_run.ts";
import { RecordReadError } from "../record/record_errors.ts";
import { prepareDirectory, type Reuse, reuseOf } from "../record/reuse.ts";
import { type CellResult, type FailedCell, startCell } from "./cell_process.ts";
import { expandCells, type PlacedCell, scaleDirectory } from "./cells.ts";
import type { OutputStream } from "./command_io.ts";
import { configOf } from "./execute_cell.ts";
import { progressDisplay } from "./progress_display.ts";
import type { ReproduceOptions } from "./reproduce_options.ts";
import { schedule } from "./schedule.ts";

/** What `reproduce` needs from its process. */
export interface ReproduceContext {
  /** The user's command, as it is recorded and shown for resuming. */
  command: string;
  progress: OutputStream;
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
  /** Lines for the user: finished runs that could not be read. */
  notes: readonly string[];
}

/**
 * Runs the cells of a command: finished ones with equal settings are reused, unfinished ones resumed, those with other
 * settings set aside. Every cell has a process of its own; a failed cell does not stop the others.
 *
 * @throws {AlreadyRunningError} if another command is at work on this scale of the output folder
 */
export async function reproduce(options: ReproduceOptions, context: ReproduceContext): Promise<ReproduceResult> {
  // First of all: options that make no cells must leave no trace.
  const wanted = await expandCells(options);
  const lock = await acquireLock(scaleDirectory(options));
  try {
    const display = progressDisplay(0, context.progress);
    await options.scale.prepare(wanted.map(({ cell }) => cell), display.line);
    const cells = await expandCells(options);
    const results = await runCells(cells, options, context);
    const { runs, damaged } = await readableRuns(options);
    return {
      cells: cells.map((placed, index) => {
        const error = damaged.get(placed.directory);
        return { placed, result: error === undefined ? results[index] : damagedCell(error) };
      }),
      runs,
      notes: [...damaged.values()].map(({ message }) => `left out: ${message}; --fresh runs the cell again`),
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
      display.ended(placed.name, result.outcome, result.outcome === "failed" ? result.message : undefined)
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

/**
 * Finished runs with current settings of every arm of the scale, for the requested seeds and variants.
 *
 * @throws {RecordReadError} if one of them is damaged
 */
export async function currentRuns(options: ReproduceOptions): Promise<PlacedRun[]> {
  const { runs, damaged } = await readableRuns(options);
  for (const error of damaged.values()) throw error;
  return runs;
}

/** {@link currentRuns}, with those that are damaged apart, by directory: one of them must not hide all others. */
async function readableRuns(
  options: ReproduceOptions,
): Promise<{ runs: PlacedRun[]; damaged: Map<string, RecordReadError> }> {
  const arms = Object.keys(options.scale.arms);
  const wanted = await expandCells({ ...options, arms });
  const runs: PlacedRun[] = [];
  const damaged = new Map<string, RecordReadError>();
  for (const placed of wanted) {
    const { cell, directory } = placed;
    if (!existsSync(directory) || await reuseOf(directory, configOf(cell).hash) !== "reuse") continue;
    try {
      runs.push({ placed, run: await readRun(directory) });
    } catch (error) {
      if (!(error instanceof RecordReadError)) throw error;
      damaged.set(directory, error);
    }
  }
  return { runs, damaged };
}

function damagedCell({ message }: RecordReadError): FailedCell {
  return { outcome: "failed", message, isInfrastructure: false };
}

/** Cells that failed, and why. */
export function failedCells({ cells }: ReproduceResult): FailedCell[] {
  return cells.flatMap(({ result }) => result?.outcome === "failed" ? [result] : []);
}
