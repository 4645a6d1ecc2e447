import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type LinesEnd, scanJsonLines } from "./json_lines.ts";
import { RecordReadError, systemCode } from "./record_errors.ts";
import { attemptFile, type LineFile, RUN_FILES } from "./run_files.ts";
import {
  type JournalEntry,
  journalEntry,
  RECORD_VERSION,
  type RunConfig,
  runConfig,
  type RunEnvironment,
  runEnvironment,
  type RunStatus,
  runStatus,
  type SampleRow,
  sampleRow,
  type TimingRow,
  timingRow,
} from "./schema.ts";

/** Everything that a run's directory says. */
export interface RunRecord {
  directory: string;
  config: RunConfig;
  /** Where and with what the run was started. */
  environment: RunEnvironment;
  /** The same for every time that it was resumed, in order; empty for an undisturbed run. */
  resumptions: readonly RunEnvironment[];
  /** Null if the file is missing. */
  status: RunStatus | null;
  journal: readonly JournalEntry[];
  samples: readonly SampleRow[];
  timing: readonly TimingRow[];
  /** Whether a file ended in a torn line, which was left out: the run is being written, or was killed. */
  torn: Readonly<Record<LineFile, boolean>>;
}

/**
 * Reads a run's directory and checks every line.
 *
 * @throws {RecordReadError} on a missing or damaged file, or one of another record version, with file and line
 */
export async function readRun(directory: string): Promise<RunRecord> {
  const config = await readConfig(directory);
  if (config === null) throw new RecordReadError(join(directory, RUN_FILES.config), null, "there is no run here");
  const environments = await readEnvironments(directory);
  const journal = await readRows(directory, "journal", journalEntry);
  const samples = await readRows(directory, "samples", sampleRow);
  const timing = await readRows(directory, "timing", timingRow);
  return {
    directory,
    config,
    environment: environments[0],
    resumptions: environments.slice(1),
    status: await readStatus(directory),
    journal: journal.rows,
    samples: samples.rows,
    timing: timing.rows,
    torn: { journal: journal.torn, samples: samples.torn, timing: timing.torn },
  };
}

/** config.json of a run's directory, or null without one. @throws {RecordReadError} */
export function readConfig(directory: string): Promise<RunConfig | null> {
  return readWhole(join(directory, RUN_FILES.config), runConfig);
}

/** status.json of a run's directory, or null without one. @throws {RecordReadError} */
export function readStatus(directory: string): Promise<RunStatus | null> {
  return readWhole(join(directory, RUN_FILES.status), runStatus);
}

async function readEnvironments(directory: string): Promise<RunEnvironment[]> {
  const attempts = (await readdir(directory)).filter((name) => /^environment(\.\d+)?\.json$/.test(name)).length;
  const environments: RunEnvironment[] = [];
  for (let attempt = 1; attempt <= Math.max(1, attempts); attempt++) {
    const path = join(directory, attemptFile(RUN_FILES.environment, attempt));
    const environment = await readWhole(path, runEnvironment);
    if (environment === null) throw new RecordReadError(path, null, "the file is missing");
    environments.push(environment);
  }
  return environments;
}

async function readWhole<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return null;
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new RecordReadError(path, null, "not JSON", { cause: error });
  }
  return checked(schema, value, "version", path, null);
}

/** A run that has just been opened has no rows yet. */
async function readRows<T>(
  directory: string,
  file: LineFile,
  schema: z.ZodType<T>,
): Promise<Pick<LinesEnd, "torn"> & { rows: T[] }> {
  const path = join(directory, RUN_FILES[file]);
  const rows: T[] = [];
  try {
    const { torn } = await scanJsonLines(path, (row, line) => rows.push(checked(schema, row, "v", path, line)));
    return { rows, torn };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return { rows, torn: false };
    throw error;
  }
}

function checked<T>(schema: z.ZodType<T>, value: unknown, key: "v" | "version", path: string, line: number | null): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const found = (value as Record<string, unknown> | null)?.[key];
  if (typeof found === "number" && found !== RECORD_VERSION) {
    throw new RecordReadError(
      path,
      line,
      `record version ${found}, and this coevo reads ${RECORD_VERSION}; read it with the coevo that wrote it (its ` +
        `commit is in ${RUN_FILES.environment}), or run the cell again with --fresh`,
    );
  }
  const problems = parsed.error.issues.map(({ path: place, message }) => `${place.join(".")}: ${message}`).join("; ");
  throw new RecordReadError(path, line, problems);
}
