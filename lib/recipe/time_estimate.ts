import { join } from "node:path";
import { readRun, type RunRecord } from "../record/read_run.ts";
import { RecordReadError } from "../record/record_errors.ts";
import { findRuns } from "../record/run_directory.ts";
import { type PlacedCell, scaleDirectory } from "./cells.ts";
import type { ReproduceOptions } from "./reproduce_options.ts";

/** Wall time of cells that are still to be run. */
export interface TimeEstimate {
  /** Null where nothing is known: no run of an arm is recorded, and the scale has no measured time of its own. */
  seconds: number | null;
  /** What it rests on, in words. */
  basis: string;
}

/**
 * Estimates the time of cells from finished runs of the same arms below the results root, in proportion to their
 * budgets; from the time that the recipe declares where there are none.
 */
export async function estimateTime(options: ReproduceOptions, toRun: readonly PlacedCell[]): Promise<TimeEstimate> {
  const recorded = await recordedRuns(options);
  const perCell = toRun.map(({ cell }) => {
    const own = recorded.filter(({ config }) => config.arm === cell.arm);
    const rates = own.map((run) => secondsOf(run) / Math.max(1, run.status?.rollouts ?? 0));
    const declared = options.scale.cellSeconds === null
      ? null
      : options.scale.cellSeconds * cell.budget / options.scale.budget;
    return { isRecorded: own.length > 0, seconds: own.length > 0 ? mean(rates) * Math.max(1, cell.budget) : declared };
  });
  const basis = perCell.every(({ isRecorded }) => isRecorded)
    ? "throughput of the runs recorded here"
    : perCell.some(({ isRecorded }) => isRecorded)
    ? "partly throughput recorded here, partly measured when the recipe was made"
    : "measured when the recipe was made";
  if (perCell.some(({ seconds }) => seconds === null)) {
    return { seconds: null, basis: "it depends on the model's server" };
  }
  const total = perCell.reduce((sum, { seconds }) => sum + (seconds ?? 0), 0);
  const longest = Math.max(0, ...perCell.map(({ seconds }) => seconds ?? 0));
  return { seconds: Math.max(longest, total / options.jobs), basis };
}

async function recordedRuns(options: ReproduceOptions): Promise<RunRecord[]> {
  const runs: RunRecord[] = [];
  for (const { directory } of await findRuns(options.out)) {
    if (!directory.startsWith(join(scaleDirectory(options), "/"))) continue;
    try {
      const run = await readRun(directory);
      if (run.status?.state === "finished") runs.push(run);
    } catch (error) {
      // A damaged run gives no estimate; running its cell says what is wrong with it.
      if (!(error instanceof RecordReadError)) throw error;
    }
  }
  return runs;
}

function secondsOf({ timing }: RunRecord): number {
  return timing.reduce((sum, { seconds }) => sum + seconds, 0);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
