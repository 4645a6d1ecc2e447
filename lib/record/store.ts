import type { DuckDBConnection } from "@duckdb/node-api";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { readRun } from "./read_run.ts";
import { moveAside } from "./reuse.ts";
import { findRuns } from "./run_directory.ts";
import { STORE_TABLES, STORE_VERSION } from "./store_schema.ts";

/** The store of a results root: derived from the journals, so it may be deleted and made again at any time. */
export function storePath(out: string): string {
  return join(out, "coevo.duckdb");
}

/** What came of bringing a store up to date. */
export interface StoreUpdate {
  path: string;
  runs: number;
  /** A line for the user where something had to be set aside, or a run could not be read. */
  note: string | null;
}

/**
 * Makes the store anew from all journals below a results root and puts it in place of the old one. Rows have a defined
 * order, so the same journals give the same tables.
 *
 * A database of another schema version, or a file that is none, is moved to `superseded/`: nothing in it is lost, as
 * the journals are the source. A run that cannot be read is left out and named in the note.
 *
 * @throws {Error} if another process keeps the store open for longer than the retries last
 */
export async function rebuildStore(out: string): Promise<StoreUpdate> {
  mkdirSync(out, { recursive: true });
  const path = storePath(out);
  const notes: string[] = [];
  const foreign = existsSync(path) ? await foreignReason(path) : null;
  if (foreign !== null) {
    notes.push(`${path} ${foreign}; it was moved to ${moveAside(path, out)} and made again from the journals`);
  }
  const draft = `${path}.${process.pid}.new`;
  rmSync(draft, { force: true });
  const runs = findRuns(out);
  let stored = 0;
  await withDatabase(draft, out, async (connection) => {
    for (const { create } of STORE_TABLES) await connection.run(create);
    await connection.run("insert into meta values (?)", [STORE_VERSION]);
    for (const directory of runs) {
      const problem = await storeRun(connection, directory, out);
      if (problem === null) stored++;
      else notes.push(`left out of the store: ${problem}`);
    }
  });
  renameSync(draft, path);
  rmSync(`${path}.wal`, { force: true });
  return { path, runs: stored, note: notes.length === 0 ? null : notes.join("\n") };
}

/** Rows of a query, with values as plain JavaScript (whole numbers as numbers). @throws {Error} on bad SQL, or a store that stays locked */
export async function queryStore(out: string, sql: string): Promise<Record<string, unknown>[]> {
  const path = storePath(out);
  if (!existsSync(path)) {
    throw new Error(`There is no store at ${path}; deno task store rebuild makes it from the journals`);
  }
  return await withDatabase(path, out, async (connection) => {
    const rows = (await connection.runAndReadAll(sql)).getRowObjectsJS();
    return rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]),
      )
    );
  }, { isReadOnly: true });
}

/** Adds a run. @returns why it could not be read, or null */
async function storeRun(connection: DuckDBConnection, directory: string, out: string): Promise<string | null> {
  const run = relative(out, directory).replaceAll("\\", "/");
  try {
    const { config, environment, status, timing } = await readRun(directory);
    const variant = run.split("/")[2].split("@")[1] ?? "";
    await connection.run("insert into runs values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [
      run,
      config.recipe,
      config.scale,
      config.arm,
      variant,
      config.seed,
      status?.state ?? "killed",
      config.hash,
      environment.commit,
      environment.diffHash,
      status?.step ?? 0,
      status?.rollouts ?? 0,
      timing.reduce((sum, { seconds }) => sum + seconds, 0),
      environment.startedAt,
    ]);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return error.message;
  }
  for (const { source, insert } of STORE_TABLES) {
    if (source === undefined || insert === undefined || !existsSync(join(directory, source))) continue;
    await connection.run(insert, [run, join(directory, source)]);
  }
  return null;
}

/** Why a file is not a store of this version, or null if it is. */
async function foreignReason(path: string): Promise<string | null> {
  try {
    const version = await withDatabase(path, join(path, ".."), async (connection) => {
      const rows = (await connection.runAndReadAll("select schema_version::int as version from meta"))
        .getRowObjectsJS();
      return rows[0]?.version;
    }, { isReadOnly: true });
    return version === STORE_VERSION ? null : `has schema version ${version}, this coevo writes ${STORE_VERSION}`;
  } catch (error) {
    if (error instanceof Error && /Could not set lock|stayed locked/.test(error.message)) throw error;
    return "is not a store of coevo";
  }
}

/** Milliseconds between tries on a locked database, and how many. */
const RETRY_DELAY = 100;
const RETRIES = 50;

/** Opens a database, uses it and closes it. DuckDB has one writer; a locked file is tried again for five seconds. */
async function withDatabase<T>(
  path: string,
  out: string,
  use: (connection: DuckDBConnection) => Promise<T>,
  { isReadOnly = false }: { isReadOnly?: boolean } = {},
): Promise<T> {
  // Loaded on demand: a cell's process never needs the 70 MB library.
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const spill = join(out, ".tmp");
  const options = {
    threads: "2",
    memory_limit: "2GB",
    temp_directory: spill,
    ...(isReadOnly ? { access_mode: "READ_ONLY" } : {}),
  };
  const open = async (tries: number): Promise<Awaited<ReturnType<typeof DuckDBInstance.create>>> => {
    try {
      return await DuckDBInstance.create(path, options);
    } catch (cause) {
      const isLocked = cause instanceof Error && /Could not set lock/.test(cause.message);
      if (!isLocked) throw cause;
      if (tries === 0) {
        throw new Error(`The store ${path} stayed locked by another process; close it and try again`, { cause });
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
      return await open(tries - 1);
    }
  };
  const instance = await open(RETRIES);
  try {
    const connection = await instance.connect();
    try {
      return await use(connection);
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
    rmSync(spill, { recursive: true, force: true });
  }
}
