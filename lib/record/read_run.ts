import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { readJsonLines } from "./json_lines.ts";
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

/** Everything a run recorded, except its samples. */
export interface RunRecord {
  directory: string;
  config: RunConfig;
  environment: RunEnvironment;
  /** Null for a run that was killed before it wrote one. */
  status: RunStatus | null;
  journal: JournalEntry[];
  timing: TimingRow[];
  /** Files whose last line was cut short. */
  torn: string[];
}

/**
 * Reads a run's directory.
 *
 * @throws {SyntaxError} naming file (and line) that cannot be read, and the remedy if it has another version
 */
export async function readRun(directory: string): Promise<RunRecord> {
  const config = await readJson(join(directory, "config.json"), runConfig);
  const environment = await readJson(join(directory, "environment.json"), runEnvironment);
  const statusPath = join(directory, "status.json");
  const status = existsSync(statusPath) ? await readJson(statusPath, runStatus) : null;
  const journal = readJsonLines(join(directory, "journal.jsonl"), rowParser(journalEntry));
  const timing = readJsonLines(join(directory, "timing.jsonl"), rowParser(timingRow));
  const torn = [...(journal.isTorn ? ["journal.jsonl"] : []), ...(timing.isTorn ? ["timing.jsonl"] : [])];
  return { directory, config, environment, status, journal: journal.rows, timing: timing.rows, torn };
}

/** A run's per-item outcomes. @throws {SyntaxError} naming file and line */
export function readSamples(directory: string): SampleRow[] {
  return readJsonLines(join(directory, "samples.jsonl"), rowParser(sampleRow)).rows;
}

async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  try {
    return rowParser(schema)(JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new SyntaxError(`${path}: ${reason}`, { cause });
  }
}

function rowParser<T>(schema: z.ZodType<T>): (value: unknown) => T {
  return (value) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const version = versionOf(value);
    if (version !== null && version !== RECORD_VERSION) {
      throw new SyntaxError(
        `it has record version ${version}, this coevo reads version ${RECORD_VERSION}; run the cell again with --fresh (the old run is kept)`,
      );
    }
    const [issue] = parsed.error.issues;
    throw new SyntaxError(`field ${issue.path.join(".") || "(all)"}: ${issue.message}`);
  };
}

function versionOf(value: unknown): number | null {
  if (value === null || typeof value !== "object") return null;
  const version = "v" in value ? value.v : "version" in value ? value.version : null;
  return typeof version === "number" ? version : null;
}
