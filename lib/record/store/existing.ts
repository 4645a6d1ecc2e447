import { existsSync } from "node:fs";
import { type Database, openDatabase, StoreLockedError } from "./database.ts";
import { STORE_VERSION } from "./tables.ts";

/** A run as a store holds it. */
export interface Source {
  /** Sizes and times of the run's files when they were read. */
  fingerprint: string;
  /** Why the run was left out, or null. */
  problem: string | null;
}

/** What is in the place of the store. */
export type Existing =
  | { kind: "none" }
  | { kind: "current"; sources: ReadonlyMap<string, Source> }
  /** Something else; `why` goes after the file's name. */
  | { kind: "foreign"; why: string };

/** Looks at what is in the place of the store; changes nothing. */
export async function inspectStore(path: string, spill: string, waitSeconds: number): Promise<Existing> {
  if (!existsSync(path)) return { kind: "none" };
  let database: Database;
  try {
    database = await openDatabase(path, { isReadOnly: true, spill, waitSeconds });
  } catch (error) {
    if (error instanceof StoreLockedError) return { kind: "foreign", why: `is open for writing in ${error.holder}` };
    return { kind: "foreign", why: "is not a DuckDB database that this version can read" };
  }
  try {
    const why = await foreignReason(database);
    if (why !== null) return { kind: "foreign", why };
    const rows = await database.query<Source & { run: string }>("select run, fingerprint, problem from sources");
    return { kind: "current", sources: new Map(rows.map(({ run, ...source }) => [run, source])) };
  } finally {
    await database.close();
  }
}

/** Why an open database is not a store of this version, or null if it is; goes after the file's name. */
export async function foreignReason(database: Database): Promise<string | null> {
  const version = await readVersion(database);
  if (version === null) return "is not a store of coevo";
  if (version === String(STORE_VERSION)) return null;
  return `is a store of version ${version}, and this coevo reads and writes ${STORE_VERSION}`;
}

/** The schema version of an open store, or null if the database is none. */
async function readVersion(database: Database): Promise<string | null> {
  try {
    const rows = await database.query<{ value: string }>("select value from meta where key = 'schema_version'");
    return rows[0]?.value ?? null;
  } catch {
    // There is no such table: somebody's own database.
    return null;
  }
}
