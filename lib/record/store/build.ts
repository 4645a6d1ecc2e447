import { COEVO_VERSION } from "../provenance.ts";
import { readRun } from "../read_run.ts";
import { RecordReadError } from "../record_errors.ts";
import type { FoundRun } from "../run_directory.ts";
import { RECORD_VERSION } from "../schema.ts";
import { type Database, openDatabase } from "./database.ts";
import type { Source } from "./existing.ts";
import { rowsOf, RUN_TABLE_NAMES, RUN_TABLES, STORE_VERSION, type Table } from "./tables.ts";

/** A run with what it must be read from. */
export interface RunSource extends FoundRun {
  fingerprint: string;
}

/** What a fresh store is built from. */
export interface BuildInput {
  /** The new file. */
  path: string;
  spill: string;
  runs: readonly RunSource[];
  /** A current store, and its runs whose files have not changed since; their rows are copied from it. */
  earlier: { path: string; sources: ReadonlyMap<string, Source> } | null;
}

/**
 * Builds a fresh store. Its rows are in a defined order, whatever was read and whatever was copied.
 *
 * @returns what it was built from, by run
 */
export async function buildStore({ path, spill, runs, earlier }: BuildInput): Promise<ReadonlyMap<string, Source>> {
  const database = await openDatabase(path, { isReadOnly: false, spill, waitSeconds: 0 });
  try {
    // In memory, so that the file holds every row once, and in order.
    await database.run("attach ':memory:' as staged");
    await createTables(database, "staged", { ...RUN_TABLES, kept: KEPT });
    if (earlier !== null) await database.run(`attach ${quoted(earlier.path)} as earlier (read_only)`);
    const sources = new Map<string, Source>();
    for (const run of runs) {
      const known = earlier?.sources.get(run.run);
      sources.set(run.run, known ?? { fingerprint: run.fingerprint, problem: await stageRun(database, run) });
    }
    const kept = [...earlier?.sources.keys() ?? []].map((run) => [run]);
    await database.append({ name: "kept", database: "staged" }, KEPT.columns, kept);
    await writeStore(database, sources, earlier !== null);
    return sources;
  } finally {
    await database.close();
  }
}

const KEPT = { columns: { run: "VARCHAR" } } as const;
const META = { columns: { key: "VARCHAR", value: "VARCHAR" } } as const;
const SOURCES = { columns: { run: "VARCHAR", fingerprint: "VARCHAR", problem: "VARCHAR" } } as const;

async function createTables(
  database: Database,
  name: string,
  tables: Readonly<Record<string, Pick<Table, "columns">>>,
): Promise<void> {
  for (const [table, { columns }] of Object.entries(tables)) {
    const list = Object.entries(columns).map(([column, type]) => `"${column}" ${type}`).join(", ");
    await database.run(`create table ${name}.${table} (${list})`);
  }
}

/** Reads a run into the staging tables. @returns why it is left out, or null */
async function stageRun(database: Database, { run, directory }: RunSource): Promise<string | null> {
  try {
    const rows = rowsOf(run, await readRun(directory));
    for (const name of RUN_TABLE_NAMES) {
      await database.append({ name, database: "staged" }, RUN_TABLES[name].columns, rows[name]);
    }
    return null;
  } catch (error) {
    // One damaged run must not take the others' store away.
    if (error instanceof RecordReadError) return error.message;
    throw error;
  }
}

/** One transaction, because each waits for the disk. */
async function writeStore(
  database: Database,
  sources: ReadonlyMap<string, Source>,
  hasEarlier: boolean,
): Promise<void> {
  await database.run("begin");
  await createTables(database, "main", { meta: META, sources: SOURCES, ...RUN_TABLES });
  const facts = { schema_version: STORE_VERSION, record_version: RECORD_VERSION, coevo: COEVO_VERSION };
  await database.append(
    { name: "meta" },
    META.columns,
    Object.entries(facts).map(([key, fact]) => [key, String(fact)]),
  );
  const rows = [...sources].map(([run, { fingerprint, problem }]) => [run, fingerprint, problem]);
  await database.append({ name: "sources" }, SOURCES.columns, rows);
  for (const name of RUN_TABLE_NAMES) {
    const copied = hasEarlier
      ? ` union all select * from earlier.${name} where run in (select run from staged.kept)`
      : "";
    const order = RUN_TABLES[name].order.map((column) => `"${column}"`).join(", ");
    await database.run(`insert into ${name} select * from (select * from staged.${name}${copied}) order by ${order}`);
  }
  await database.run("commit");
  await database.run("checkpoint");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
