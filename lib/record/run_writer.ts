import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile, type ResumePoint, resumePoint, writeCheckpoint } from "./checkpoints.ts";
import { type LineWriter, lineWriter, recordWrite } from "./json_lines.ts";
import {
  type JournalEntry,
  RECORD_VERSION,
  type RunConfig,
  type RunEnvironment,
  type RunStatus,
  type SampleRow,
  type TimingRow,
} from "./schema.ts";

/** Files of a run that grow line by line. */
const LINE_FILES = { journal: "journal.jsonl", samples: "samples.jsonl", timing: "timing.jsonl" } as const;

/** What a run is opened with. */
export interface RunHeader {
  config: RunConfig;
  environment: RunEnvironment;
  /** The uncommitted difference of the code, or null. */
  codeDiff: string | null;
}

/** Writes the records of a run. */
export interface RunWriter {
  /** The checkpoint that it goes on from, or null at the beginning. */
  resume: ResumePoint | null;
  /** Numbers that are not finite become null. */
  journal(entry: JournalEntry): void;
  sample(row: SampleRow): void;
  timing(row: TimingRow): void;
  /** Flushes everything and keeps a checkpoint. @param saveEngine writes the engine's files into the folder */
  checkpoint(step: number, state: unknown, saveEngine: (folder: string) => Promise<void>): Promise<void>;
  /** Replaces status.json. */
  status(status: Pick<RunStatus, "state" | "step" | "rollouts" | "budget"> & { error?: string | null }): Promise<void>;
  /** Marks the run as failed; what it recorded so far is kept. Never throws. */
  fail(message: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a run's directory. With a valid checkpoint in it, the record files are cut back to the moment of that
 * checkpoint; else they begin anew.
 *
 * @throws {RecordWriteError} if it cannot be written
 */
export async function openRun(directory: string, { config, environment, codeDiff }: RunHeader): Promise<RunWriter> {
  const resume = resumePoint(directory);
  recordWrite(directory, () => {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
    writeFileSync(join(directory, "environment.json"), `${JSON.stringify(environment, null, 2)}\n`);
    rmSync(join(directory, "code.diff"), { force: true });
    if (codeDiff !== null) writeFileSync(join(directory, "code.diff"), codeDiff);
  });
  const files = Object.fromEntries(
    Object.entries(LINE_FILES).map((
      [name, file],
    ) => [name, lineWriter(join(directory, file), resume?.sizes[name] ?? 0)]),
  ) as Record<keyof typeof LINE_FILES, LineWriter>;
  const all = Object.values(files);
  let last = { step: resume?.step ?? 0, rollouts: 0, budget: 0 };
  const writeStatus = ({ state, step, rollouts, budget, error = null }: Parameters<RunWriter["status"]>[0]) => {
    last = { step, rollouts, budget };
    const status: RunStatus = {
      version: RECORD_VERSION,
      state,
      step,
      rollouts,
      budget,
      error,
      updatedAt: new Date().toISOString(),
    };
    replaceFile(join(directory, "status.json"), `${JSON.stringify(status, null, 2)}\n`);
  };
  writeStatus({ state: "running", ...last });
  return await Promise.resolve({
    resume,
    journal: (entry) => files.journal.write(finiteOnly(entry)),
    sample: (row) => files.samples.write(row),
    timing: (row) => files.timing.write(row),
    checkpoint: async (step, state, saveEngine) => {
      for (const file of all) file.sync();
      const sizes = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, file.size()]));
      await writeCheckpoint(directory, { step, state, sizes }, saveEngine);
    },
    status: (status) => {
      for (const file of all) file.flush();
      return Promise.resolve(writeStatus(status));
    },
    fail: (message) => {
      // The disk may be what failed: the error that is on its way says so better than a second one.
      try {
        for (const file of all) file.flush();
        writeStatus({ state: "failed", ...last, error: message });
      } catch { /* see above */ }
      return Promise.resolve();
    },
    close: () => {
      for (const file of all) file.close();
      return Promise.resolve();
    },
  });
}

/** JSON has no NaN: such a metric is kept as null. */
function finiteOnly(entry: JournalEntry): JournalEntry {
  if (!("metrics" in entry)) return entry;
  const metrics = Object.fromEntries(
    Object.entries(entry.metrics).map((
      [name, value],
    ) => [name, value !== null && Number.isFinite(value) ? value : null]),
  );
  return { ...entry, metrics };
}

/** Whether a run's directory has been begun. */
export function isRun(directory: string): boolean {
  return existsSync(join(directory, "config.json"));
}

/** Hash of the settings that a run was begun with, or null if its config.json cannot be read. */
export function recordedHash(directory: string): string | null {
  try {
    return JSON.parse(readFileSync(join(directory, "config.json"), "utf8")).hash ?? null;
  } catch {
    // A config.json that was cut short belongs to a run that never began.
    return null;
  }
}

export { resumePoint };
