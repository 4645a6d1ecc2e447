import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type ResumePoint, resumePoint, writeCheckpoint } from "./checkpoint.ts";
import { type JsonLinesWriter, openJsonLines } from "./json_lines.ts";
import { readConfig, readStatus } from "./read_run.ts";
import { asWriteError, RecordReadError, RecordWriteError } from "./record_errors.ts";
import { replaceFile } from "./replace_file.ts";
import { attemptFile, LINE_FILES, type LineFile, RUN_FILES } from "./run_files.ts";
import {
  type JournalEntry,
  journalEntry,
  RECORD_VERSION,
  type RunConfig,
  type RunEnvironment,
  type RunStatus,
  type SampleRow,
  sampleRow,
  type TimingRow,
  timingRow,
} from "./schema.ts";

export { type ResumePoint, resumePoint } from "./checkpoint.ts";

/** What a run is opened with. */
export interface RunOpening {
  config: RunConfig;
  environment: RunEnvironment;
  /** The uncommitted difference of the code, kept as code.diff; null for a clean checkout. */
  codeDiff?: string | null;
  /** Rollouts that the run may make, for status.json. */
  budget?: number;
  /** Checks every row as a reader will. For tests: it costs more than writing does. */
  isChecked?: boolean;
}

/** How a run ended by itself. */
export interface RunEnd {
  step: number;
  rollouts: number;
  /** Such as `budget`. */
  reason: string;
  metrics?: Record<string, number | null>;
}

/** Writes the records of a run. One process at a time; see lock.ts. */
export interface RunWriter {
  readonly directory: string;
  /** The checkpoint that the run goes on from; null for a run that starts. */
  readonly resume: ResumePoint | null;
  /** Adds a line to the journal. Metrics that are not finite become null. @throws {RecordWriteError} */
  journal(entry: JournalEntry): void;
  /** Adds the outcome of an item. @throws {TypeError} if its reward is not finite */
  sample(row: SampleRow): void;
  /** Adds the clock values of a step, which ends it: everything that was buffered is handed to the operating system. */
  timing(row: TimingRow): void;
  /** Makes the present the point to resume from. @param state JSON-safe @throws {RecordWriteError} */
  checkpoint(step: number, state: unknown, saveEngine: (folder: string) => Promise<void>): Promise<void>;
  /** Replaces status.json; what is not given stays, or follows the journal. */
  status(change: Partial<Pick<RunStatus, "state" | "step" | "rollouts" | "budget">>): Promise<void>;
  /** Writes the journal's last line and the status `finished`. Nothing may be written afterwards. */
  finish(end: RunEnd): Promise<void>;
  /** Writes the status `failed`. Never throws for want of space: the caller has a better error at hand. */
  fail(message: string): Promise<void>;
  /** Writes what is buffered and closes the files. */
  close(): Promise<void>;
}

/**
 * Opens a run's directory for writing. Where it holds a checkpoint of the same config, the append-only files are cut
 * back to that moment and `resume` says where to go on; otherwise the run starts, and rows of an attempt that was killed
 * before its first checkpoint are written again.
 *
 * @throws {Error} if the directory holds a finished run, or one of another config (see reuse.ts)
 * @throws {RecordReadError} if the checkpoint is damaged
 * @throws {RecordWriteError}
 */
export async function openRun(directory: string, opening: RunOpening): Promise<RunWriter> {
  await requireUnfinished(directory, opening.config);
  const resume = await resumePoint(directory);
  const status = await writeOpening(directory, opening, resume);
  const files = openLineFiles(directory, resume);
  return runWriter(directory, files, resume, status, opening.isChecked ?? false);
}

async function requireUnfinished(directory: string, { hash }: RunConfig): Promise<void> {
  const existing = await readConfig(directory);
  if (existing === null) return;
  const shown = JSON.stringify(directory);
  if (existing.hash !== hash) {
    throw new Error(`Cannot write a run to ${shown}: it holds one with other settings; move it away first`);
  }
  if ((await readStatus(directory))?.state === "finished") {
    throw new Error(`Cannot go on with the run in ${shown}: it is finished; read it, or run it again with --fresh`);
  }
}

/** Everything but the rows. config.json comes last: where it is, the others are. */
async function writeOpening(directory: string, opening: RunOpening, resume: ResumePoint | null): Promise<RunStatus> {
  const { config, environment, codeDiff } = opening;
  try {
    await mkdir(directory, { recursive: true });
    const attempt = await nextAttempt(directory, resume !== null);
    await replaceFile(join(directory, attemptFile(RUN_FILES.environment, attempt)), json(environment));
    if (typeof codeDiff === "string") {
      await replaceFile(join(directory, attemptFile(RUN_FILES.codeDiff, attempt)), codeDiff);
    }
    const last = resume === null ? null : await readStatus(directory);
    const status: RunStatus = {
      version: RECORD_VERSION,
      state: "running",
      step: resume?.step ?? 0,
      rollouts: last?.rollouts ?? 0,
      budget: opening.budget ?? last?.budget ?? 0,
      error: null,
      updatedAt: new Date().toISOString(),
    };
    await replaceFile(join(directory, RUN_FILES.status), json(status));
    await replaceFile(join(directory, RUN_FILES.config), json(config));
    return status;
  } catch (error) {
    throw asWriteError(directory, error);
  }
}

/** Number of this attempt: 1 for a run that starts (leftovers of an earlier start go), else one more than there are. */
async function nextAttempt(directory: string, isResumed: boolean): Promise<number> {
  const earlier = (await readdir(directory)).flatMap((name) => {
    const match = name.match(/^(?:environment|code)(?:\.(\d+))?\.(?:json|diff)$/);
    return match === null ? [] : [{ name, attempt: Number(match[1] ?? 1) }];
  });
  if (isResumed) return 1 + Math.max(0, ...earlier.map(({ attempt }) => attempt));
  for (const { name } of earlier) await rm(join(directory, name), { force: true });
  return 1;
}

type LineWriters = Record<LineFile, JsonLinesWriter>;

function openLineFiles(directory: string, resume: ResumePoint | null): LineWriters {
  const opened: JsonLinesWriter[] = [];
  const openOne = (file: LineFile) => {
    const writer = openJsonLines(join(directory, RUN_FILES[file]));
    opened.push(writer);
    const bytes = resume?.sizes[file] ?? 0;
    if (bytes > writer.size) {
      throw new RecordReadError(
        writer.path,
        null,
        `it has ${writer.size} bytes, but its checkpoint was made after ${bytes}; run again with --fresh`,
      );
    }
    writer.truncate(bytes);
    return writer;
  };
  try {
    return { journal: openOne("journal"), samples: openOne("samples"), timing: openOne("timing") };
  } catch (error) {
    for (const writer of opened) writer.close();
    throw error;
  }
}

function runWriter(
  directory: string,
  files: LineWriters,
  resume: ResumePoint | null,
  status: RunStatus,
  isChecked: boolean,
): RunWriter {
  const writers = LINE_FILES.map((file) => files[file]);
  const flush = () => writers.forEach((writer) => writer.flush());
  const check = isChecked ? requireShape : () => {};

  async function setStatus(change: Partial<RunStatus>): Promise<void> {
    Object.assign(status, change, { updatedAt: new Date().toISOString() });
    await replaceFile(join(directory, RUN_FILES.status), json(status));
  }
  function journal(entry: JournalEntry): void {
    check(journalEntry, entry, files.journal.path);
    files.journal.append(entry);
    if (entry.type === "start") return;
    status.step = entry.step;
    status.rollouts = entry.rollouts;
  }

  return {
    directory,
    resume,
    journal,
    sample: (row) => {
      check(sampleRow, row, files.samples.path);
      requireFinite("reward", row.reward, files.samples.path);
      files.samples.append(row);
    },
    timing: (row) => {
      check(timingRow, row, files.timing.path);
      requireFinite("seconds", row.seconds, files.timing.path);
      requireFinite("engineSeconds", row.engineSeconds, files.timing.path);
      files.timing.append(row);
      flush();
    },
    checkpoint: async (step, state, saveEngine) => {
      writers.forEach((writer) => writer.sync());
      const sizes = { journal: files.journal.size, samples: files.samples.size, timing: files.timing.size };
      await writeCheckpoint(directory, { step, state, sizes }, saveEngine);
      await setStatus({});
    },
    status: (change) => {
      flush();
      return setStatus(change);
    },
    finish: async ({ step, rollouts, reason, metrics = {} }) => {
      journal({ v: RECORD_VERSION, type: "finish", step, rollouts, reason, metrics });
      writers.forEach((writer) => writer.sync());
      await setStatus({ state: "finished" });
    },
    fail: async (message) => {
      try {
        await setStatus({ state: "failed", error: message.split("\n")[0] });
        flush();
      } catch (error) {
        if (!(error instanceof RecordWriteError)) throw error;
        // The disk that failed the run cannot take its status either; "running" without a live lock says the same.
      }
    },
    close: () => {
      for (const writer of writers) writer.close();
      return Promise.resolve();
    },
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Checks a row as it will be read: a number that is not finite is null by then. */
function requireShape(schema: z.ZodType, row: object, path: string): void {
  const parsed = schema.safeParse(JSON.parse(JSON.stringify(row)));
  if (!parsed.success) {
    throw new TypeError(`Cannot add a row to ${JSON.stringify(path)}: ${z.prettifyError(parsed.error)}`);
  }
}

function requireFinite(name: string, value: number, path: string): void {
  if (!Number.isFinite(value)) throw new TypeError(`Cannot add a row to ${JSON.stringify(path)}: ${name} is ${value}`);
}
