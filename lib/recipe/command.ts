import { join } from "node:path";
import { replaceFile } from "../record/replace_file.ts";
import { updateStore } from "../record/store.ts";
import { toJson } from "../report/json_table.ts";
import { toTerminal } from "../report/terminal_table.ts";
import { scaleDirectory } from "./cells.ts";
import type { CommandIo, OutputStream, StopSignal } from "./command_io.ts";
import { UsageError } from "./command_line.ts";
import { evaluateCheckpoint } from "./evaluate_checkpoint.ts";
import { EXIT } from "./exit_code.ts";
import { gridTables } from "./grid_tables.ts";
import { planText } from "./plan.ts";
import { failedCells, type PlacedRun, reproduce, type ReproduceResult } from "./reproduce.ts";
import type { ReproduceOptions } from "./reproduce_options.ts";
import { summarize, type Summary } from "./summarize.ts";

/**
 * `reproduce` from checked options to exit code: plan, or run, record, print and report.
 *
 * @param command the command as the user gave it, beginning with `deno`
 */
export async function runReproduce(options: ReproduceOptions, command: string, io: CommandIo): Promise<number> {
  if (options.isPlan) {
    io.stdout.write(`${await planText(options)}\n`);
    return EXIT.done;
  }
  if (options.evaluate !== null) {
    io.stdout.write(`${await evaluateCheckpoint(options)}\n`);
    return EXIT.done;
  }
  await requirePrerequisites(options);
  const signals = stopSignals(io);
  const result = await reproduce(options, { command, progress: io.stderr, onStop: signals.onStop });
  const caught = signals.caught();
  const notes = [...result.notes];
  // A command that was stopped before it had a number must not hide behind empty tables what resumes it.
  const hasNothing = caught !== null && result.runs.length === 0;
  if (hasNothing && !options.isJson) notes.push(...await storeNotes(options));
  else notes.push(...await showResults(options, command, result, io.stdout));
  for (const note of notes) io.stderr.write(`${note}\n`);
  if (caught !== null) {
    io.stderr.write(
      `Stopped; checkpoints are kept. This resumes:\n  ${command}\n  (without Deno: ${withoutDeno(command)})\n`,
    );
    return EXIT[caught];
  }
  const failed = failedCells(result);
  if (failed.length === 0) return EXIT.done;
  return failed.every(({ isInfrastructure }) => isInfrastructure) ? EXIT.infrastructure : EXIT.failed;
}

/** Prints the tables, writes report and store and says where they are. Returns what else the user should know. */
async function showResults(
  options: ReproduceOptions,
  command: string,
  result: ReproduceResult,
  stdout: OutputStream,
): Promise<string[]> {
  const summaries = summariesOf(options, result);
  // The numbers come first: report and store can be made again from the journals, should the disk refuse them now.
  printTables(options, summaries, stdout);
  const report = await writeReport(options, command, summaries, result);
  const store = await updateStore(options.out);
  if (!options.isJson) stdout.write(placesText(report, scaleDirectory(options), store.path));
  return store.note === null ? [] : [store.note];
}

async function storeNotes({ out }: ReproduceOptions): Promise<string[]> {
  const { note } = await updateStore(out);
  return note === null ? [] : [note];
}

/** The same command for who has npm and no Deno. */
function withoutDeno(command: string): string {
  return command.replace(/^deno /, `npx --yes deno@${Deno.version.deno} `);
}

async function requirePrerequisites({ scale, run, overrides }: ReproduceOptions): Promise<void> {
  const missing = (await scale.prerequisites(run, overrides)).find(({ isMet }) => !isMet);
  if (missing !== undefined) throw new UsageError(missing.remedy);
}

const STOPPING = "Stopping after the current step; once more stops at once, and nothing finished is lost either way.\n";

/**
 * Turns the first SIGINT or SIGTERM into a request to stop, the second into a kill of the cells. Before there is
 * something to stop, a signal ends the process as usual: nothing is lost by that.
 */
function stopSignals(io: CommandIo): { onStop(stop: () => void): void; caught(): StopSignal | null } {
  let caught: StopSignal | null = null;
  return {
    onStop: (stop) =>
      io.onStopSignal((signal) => {
        if (caught === null) io.stderr.write(STOPPING);
        caught ??= signal;
        stop();
      }),
    caught: () => caught,
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
    const seedsOf = (arm: string) => runs.filter(({ placed }) => placed.cell.arm === arm).length;
    // Of the arms that were not asked for, those that were run before with all of these seeds.
    const arms = Object.keys(scale.arms).filter((arm) => options.arms.includes(arm) || seedsOf(arm) === seeds.length);
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
  const { commandReport } = await import("./report_page.ts");
  await replaceFile(path, await commandReport(options, command, summaries, result));
  return path;
}

function printTables(
  { isJson, scale }: ReproduceOptions,
  summaries: readonly PointSummary[],
  { write, columns, hasColor }: OutputStream,
): void {
  if (isJson) {
    const tables = summaries.map(({ point, summary }) => ({
      point,
      results: JSON.parse(toJson(summary.results)),
      claims: JSON.parse(toJson(summary.claims)),
    }));
    write(`${JSON.stringify(tables, null, 2)}\n`);
    return;
  }
  const grid = gridTables(scale, summaries);
  const style = { width: columns, colour: hasColor };
  for (const table of grid) write(`${toTerminal(table, style)}\n`);
  // Points of a grid in full are for the report: the terminal would scroll away.
  if (grid.length > 0) return;
  for (const { summary } of summaries) {
    write(`${toTerminal(summary.results, style)}\n${toTerminal(summary.claims, style)}\n`);
  }
}

function placesText(report: string, directory: string, store: string): string {
  return `report    ${report}\njournals  ${directory}/<arm>/seed-<n>/journal.jsonl\ndatabase  ${store}\n`;
}
