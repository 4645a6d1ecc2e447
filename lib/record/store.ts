import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { acquireLock } from "./lock.ts";
import { asWriteError } from "./record_errors.ts";
import { supersede } from "./reuse.ts";
import { findRuns, type FoundRun } from "./run_directory.ts";
import { LINE_FILES, RUN_FILES } from "./run_files.ts";
import { buildStore, type RunSource } from "./store/build.ts";
import { type Database, openDatabase } from "./store/database.ts";
import { type Existing, foreignReason, inspectStore, type Source } from "./store/existing.ts";

export { StoreLockedError } from "./store/database.ts";
export { STORE_VERSION } from "./store/tables.ts";

const STORE_FILE = "coevo.duckdb";
/** Folder below the results root for the file that is being built, and for what does not fit into memory. */
const WORK_FOLDER = ".store";
/** Beginning of the folders below the results root for what readers cannot hold in memory. */
const READER_SPILL = ".spill-";
const DAY = 24 * 60 * 60 * 1000;
/** How long to wait for another command that builds the same store. */
const BUILD_WAIT_SECONDS = 120;
/** How long to wait for a program that has the store open for writing. */
const LOCK_WAIT_SECONDS = 5;

/** The database of a results root. It is derived from the journals: it may be deleted, and keeps no table of your own. */
export function storePath(out: string): string {
  return join(out, STORE_FILE);
}

/** How a store was brought up to date. */
export interface StoreUpdate {
  path: string;
  /** Runs that it holds. */
  runs: number;
  /** Runs that had to be read, because they are new or have changed. */
  read: number;
  /** Something that the user should know, one line each: what was set aside, which runs were left out. Or null. */
  note: string | null;
}

/** Settings of the functions below. */
export interface StoreOptions {
  /** Seconds to wait for a program that has the store open for writing; default 5. */
  waitSeconds?: number;
}

/**
 * Builds the store of a results root from its journals and puts it in the old one's place; readers of the old one are
 * not disturbed. Equal journals give equal tables, rows in the same order. A file in the store's place that is not a
 * store of this version is moved to `superseded/`, and runs that cannot be read are left out; `note` tells of both.
 *
 * @throws {AlreadyRunningError} if another command builds the same store and does not come to an end
 * @throws {RecordWriteError}
 */
export async function rebuildStore(out: string, options: StoreOptions = {}): Promise<StoreUpdate> {
  return await refresh(out, false, options);
}

/** As {@link rebuildStore}, but reads only runs that have changed, and writes nothing if none has. */
export async function updateStore(out: string, options: StoreOptions = {}): Promise<StoreUpdate> {
  return await refresh(out, true, options);
}

/** Reads a store. */
export type StoreReader = Pick<Database, "query">;

/**
 * Opens the store read-only, lends it to `use` and closes it.
 *
 * @throws {StoreLockedError} if another program keeps it open for writing
 * @throws {Error} if there is no store, or one of another version
 */
export async function withStore<T>(
  out: string,
  use: (store: StoreReader) => Promise<T>,
  { waitSeconds = LOCK_WAIT_SECONDS }: StoreOptions = {},
): Promise<T> {
  const path = storePath(out);
  const remedy = "`deno task store rebuild` makes it from the journals";
  if (!existsSync(path)) throw new Error(`Cannot read ${JSON.stringify(path)}: there is no such file; ${remedy}`);
  const spill = join(out, `${READER_SPILL}${randomUUID()}`);
  const database = await openDatabase(path, { isReadOnly: true, spill, waitSeconds });
  try {
    const why = await foreignReason(database);
    if (why !== null) throw new Error(`Cannot read ${JSON.stringify(path)}: it ${why}; ${remedy}`);
    return await use(database);
  } finally {
    await database.close();
  }
}

/** The rows of one query. @throws as {@link withStore}, and DuckDB's error on bad SQL */
export async function queryStore(out: string, sql: string): Promise<Record<string, unknown>[]> {
  return await withStore(out, (store) => store.query(sql));
}

async function refresh(
  out: string,
  isIncremental: boolean,
  { waitSeconds = LOCK_WAIT_SECONDS }: StoreOptions,
): Promise<StoreUpdate> {
  const path = storePath(out);
  const work = join(out, WORK_FOLDER);
  const lock = await acquireLock(work, BUILD_WAIT_SECONDS);
  try {
    const spill = join(work, "spill");
    await removeLeftovers(out, work);
    const existing = await inspectStore(path, spill, waitSeconds);
    const runs = await Promise.all((await findRuns(out)).map(fingerprinted));
    const kept = isIncremental ? unchanged(runs, existing) : new Map<string, Source>();
    const isCurrent = existing.kind === "current" && kept.size === runs.length && existing.sources.size === runs.length;
    if (isIncremental && isCurrent) return updateOf(path, kept, 0, []);
    const draft = join(work, STORE_FILE);
    const earlier = kept.size === 0 ? null : { path, sources: kept };
    const sources = await buildStore({ path: draft, spill, runs, earlier });
    const notes = await clearPlace(out, path, existing);
    await rename(draft, path);
    return updateOf(path, sources, runs.length - kept.size, notes);
  } catch (error) {
    throw asWriteError(path, error);
  } finally {
    await lock.release();
  }
}

/** What a command that was killed left behind. Readers of today may still need their spill folders. */
async function removeLeftovers(out: string, work: string): Promise<void> {
  for (const name of await readdir(work)) {
    if (name.startsWith(STORE_FILE) || name === "spill") await rm(join(work, name), { recursive: true, force: true });
  }
  for (const name of await readdir(out)) {
    if (!name.startsWith(READER_SPILL)) continue;
    const { mtimeMs } = await stat(join(out, name));
    if (Date.now() - mtimeMs > DAY) await rm(join(out, name), { recursive: true, force: true });
  }
}

/** A run with the sizes and times of its files, which tell whether it has to be read again. */
async function fingerprinted(found: FoundRun): Promise<RunSource> {
  const names = [RUN_FILES.config, RUN_FILES.status, ...LINE_FILES.map((file) => RUN_FILES[file])];
  const parts = await Promise.all(names.map(async (name) => {
    const path = join(found.directory, name);
    if (!existsSync(path)) return "-";
    const { size, mtimeMs } = await stat(path);
    return `${size}@${mtimeMs}`;
  }));
  return { ...found, fingerprint: parts.join(" ") };
}

function unchanged(runs: readonly RunSource[], existing: Existing): Map<string, Source> {
  if (existing.kind !== "current") return new Map();
  return new Map(runs.flatMap(({ run, fingerprint }) => {
    const source = existing.sources.get(run);
    return source?.fingerprint === fingerprint ? [[run, source]] : [];
  }));
}

/** Sets a foreign file aside, with DuckDB's write-ahead log, which must not be replayed onto the new store. */
async function clearPlace(out: string, path: string, existing: Existing): Promise<string[]> {
  const log = `${path}.wal`;
  if (existing.kind !== "foreign") {
    await rm(log, { force: true });
    return [];
  }
  const moved = await supersede(out, path);
  if (existsSync(log)) await rename(log, `${moved}.wal`);
  return [`${path} ${existing.why}; it was moved to ${moved}, and the store was built again from the journals`];
}

function updateOf(
  path: string,
  sources: ReadonlyMap<string, Source>,
  read: number,
  notes: readonly string[],
): StoreUpdate {
  const problems = [...sources.values()].flatMap(({ problem }) => problem ?? []);
  const lines = [...notes, ...problems.map((problem) => `left out of the store: ${problem}`)];
  return {
    path,
    runs: sources.size - problems.length,
    read,
    note: lines.length === 0 ? null : lines.join("\n"),
  };
}
