import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { PanelMismatchError } from "../data/panel.ts";
import { AlreadyRunningError } from "../record/lock.ts";
import { RecordWriteError } from "../record/json_lines.ts";
import { rebuildStore } from "../record/store.ts";
import { toJson } from "../report/json_table.ts";
import { toTerminal } from "../report/terminal_table.ts";
import { scaleDirectory } from "./cells.ts";
import { UsageError } from "./command_line.ts";
import { planText } from "./plan.ts";
import type { ProgressOutput } from "./progress_display.ts";
import { commandReport } from "./report_page.ts";
import { hasFailures, type PlacedRun, reproduce, type ReproduceResult } from "./reproduce.ts";
import type { ReproduceOptions } from "./reproduce_options.ts";
import { summarize, type Summary } from "./summarize.ts";

/** Exit codes (design, §9). */
const DONE = 0;
const CELL_FAILED = 1;
const USAGE = 2;
const INFRASTRUCTURE = 3;
const SIGINT = 130;
const SIGTERM = 143;

/**
 * `reproduce` from checked options to exit code: plan, or run, record, print and report.
 *
 * @param command the command as the user gave it
 */
export async function runReproduce(options: ReproduceOptions, command: string): Promise<number> {
  if (options.isPlan) {
    process.stdout.write(`${await planText(options)}\n`);
    return DONE;
  }
  await requirePrerequisites(options);
  const signals = stopSignals();
  const result = await reproduce(options, { command, progress: progressOutput(), onStop: signals.onStop });
  const summaries = summariesOf(options, result);
  const report = await writeReport(options, command, summaries, result);
  const store = await rebuildStore(options.out);
  print(options, summaries, { report, store: store.path, directory: scaleDirectory(options), note: store.note });
  if (signals.caught() !== null) {
    process.stderr.write(`Stopped; checkpoints are kept. This resumes:\n  ${command}\n`);
    return signals.caught() === "SIGINT" ? SIGINT : SIGTERM;
  }
  return hasFailures(result) ? CELL_FAILED : DONE;
}

/** What an error means to a caller: one line for a user's mistake, all of it for a fault of ours. */
export function exitCode(error: unknown): { code: number; message: string } {
  if (error instanceof UsageError || error instanceof RangeError || error instanceof PanelMismatchError) {
    return { code: USAGE, message: error.message };
  }
  if (error instanceof AlreadyRunningError || error instanceof RecordWriteError) {
    return { code: INFRASTRUCTURE, message: error.message };
  }
  return { code: CELL_FAILED, message: error instanceof Error ? error.stack ?? error.message : String(error) };
}

async function requirePrerequisites({ scale, run, overrides }: ReproduceOptions): Promise<void> {
  const missing = (await scale.prerequisites(run, overrides)).find(({ isMet }) => !isMet);
  if (missing !== undefined) throw new UsageError(missing.remedy);
}

/** Turns the first SIGINT or SIGTERM into a request to stop, the second into a kill of the cells. */
function stopSignals(): { onStop(stop: () => void): void; caught(): "SIGINT" | "SIGTERM" | null } {
  let caught: "SIGINT" | "SIGTERM" | null = null;
  let stop = () => {};
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      caught ??= signal;
      stop();
    });
  }
  return { onStop: (handler) => void (stop = handler), caught: () => caught };
}

/** Progress goes to standard error, so that standard output is the table alone. */
function progressOutput(): ProgressOutput {
  const { stderr } = process;
  const isTerminal = stderr.isTTY === true;
  return {
    write: (text) => void stderr.write(text),
    isTerminal,
    hasColor: isTerminal && !Deno.noColor,
    columns: stderr.columns ?? 80,
  };
}

/** The tables of one point of the grid (or of everything, without one) with the runs they are made of. */
export interface PointSummary {
  /** Empty without a grid. */
  point: string;
  summary: Summary;
  runs: readonly PlacedRun[];
}

/** A summary for each point of the grid, in order; one without a grid. Arms that were run before are shown too. */
export function summariesOf(
  options: ReproduceOptions,
  result: Pick<ReproduceResult, "runs" | "cells">,
): PointSummary[] {
  const { recipe, scale, seeds } = options;
  const points = new Set(result.cells.map(({ placed }) => placed.point));
  return [...points].map((point) => {
    const runs = result.runs.filter(({ placed }) => placed.point === point);
    const present = new Set([...options.arms, ...runs.map(({ placed }) => placed.cell.arm)]);
    const arms = Object.keys(scale.arms).filter((arm) => present.has(arm));
    const title = `${recipe.name}, scale ${scale.name}${point === "" ? "" : `, ${point}`}`;
    return { point, summary: summarize({ title, scale, arms, seeds, runs: runs.map(({ run }) => run) }), runs };
  });
}

async function writeReport(
  options: ReproduceOptions,
  command: string,
  summaries: readonly PointSummary[],
  result: ReproduceResult,
): Promise<string> {
  const path = join(scaleDirectory(options), "report.html");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, commandReport(options, command, summaries, result));
  await rename(`${path}.new`, path);
  return path;
}

function print(
  options: ReproduceOptions,
  summaries: readonly PointSummary[],
  places: { report: string; store: string; directory: string; note: string | null },
): void {
  const { stdout } = process;
  if (options.isJson) {
    stdout.write(
      `${
        JSON.stringify(
          summaries.map(({ point, summary }) => ({
            point,
            results: JSON.parse(toJson(summary.results)),
            claims: JSON.parse(toJson(summary.claims)),
          })),
          null,
          2,
        )
      }\n`,
    );
    return;
  }
  const style = { width: stdout.columns ?? 120, colour: stdout.isTTY === true && !Deno.noColor };
  for (const { summary } of summaries) {
    stdout.write(`${toTerminal(summary.results, style)}\n${toTerminal(summary.claims, style)}\n`);
  }
  if (places.note !== null) stdout.write(`${places.note}\n`);
  stdout.write(
    `report    ${places.report}\njournals  ${places.directory}/<arm>/seed-<n>/journal.jsonl\ndatabase  ${places.store}\n`,
  );
}
