import type { DuckDBInstance, DuckDBType, DuckDBValue } from "@duckdb/node-api";
import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Cell, ColumnType, Row, Table } from "./tables.ts";

/** Another program has the database open for writing. */
export class StoreLockedError extends Error {
  override name = "StoreLockedError";
  /** @param holder what DuckDB says of the other program: its path and process id */
  constructor(readonly path: string, readonly holder: string, options?: ErrorOptions) {
    super(
      `Cannot open ${JSON.stringify(path)}: another program has it open for writing (${holder}). ` +
        "Close it there, or open it read-only there, and try again",
      options,
    );
  }
}

/** How a database is opened. */
export interface DatabaseOptions {
  isReadOnly: boolean;
  /** Folder for what does not fit into memory; removed on closing. */
  spill: string;
  /** How long to wait for a program that has it open for writing. */
  waitSeconds: number;
}

/** Values that a statement's placeholders `$1`, `$2`, … take. */
export type Parameters = readonly Cell[];

/** An open database. */
export interface Database {
  run(sql: string, parameters?: Parameters): Promise<void>;
  /** Rows as plain objects; whole numbers of any width come as numbers, or as text beyond 2⁵³. */
  query<T = Record<string, unknown>>(sql: string, parameters?: Parameters): Promise<T[]>;
  /** Adds rows to a table. @param table its name, and its database's if that is an attached one */
  append(table: { name: string; database?: string }, columns: Table["columns"], rows: readonly Row[]): Promise<void>;
  close(): Promise<void>;
}

const MEMORY = "1GB";
const THREADS = "2";
/** Rows of a data chunk: DuckDB's vector size. */
const CHUNK_ROWS = 2048;
const RETRY_MILLISECONDS = 50;

/**
 * Opens a DuckDB database.
 *
 * @throws {StoreLockedError} if another program keeps it open for writing
 * @throws {Error} DuckDB's own, if the file is not a database that it can read
 */
export async function openDatabase(path: string, options: DatabaseOptions): Promise<Database> {
  // Loaded on demand: the native library costs a cell's process time and memory, and only stores need it.
  const duckdb = await import("@duckdb/node-api");
  const instance = await openInstance(duckdb, path, options);
  const connection = await instance.connect();
  return {
    run: async (sql, parameters) => void await connection.run(sql, listOf(parameters)),
    query: async <T>(sql: string, parameters?: Parameters) => {
      const reader = await connection.runAndReadAll(sql, listOf(parameters));
      return reader.getRowObjectsJS().map((row) => plain(row)) as T[];
    },
    append: async ({ name, database }, columns, rows) => {
      const appender = await connection.createAppender(name, "main", database);
      const types = Object.values(columns);
      for (let start = 0; start < rows.length; start += CHUNK_ROWS) {
        const part = rows.slice(start, start + CHUNK_ROWS);
        const chunk = duckdb.DuckDBDataChunk.create(types.map((type) => duckdbType(duckdb, type)), part.length);
        chunk.setColumns(types.map((type, column) => part.map((row) => duckdbValue(duckdb, type, row[column]))));
        appender.appendDataChunk(chunk);
      }
      appender.closeSync();
    },
    close: async () => {
      connection.closeSync();
      instance.closeSync();
      await rm(options.spill, { recursive: true, force: true });
    },
  };
}

type DuckDB = typeof import("@duckdb/node-api");

async function openInstance(duckdb: DuckDB, path: string, options: DatabaseOptions): Promise<DuckDBInstance> {
  const settings = {
    threads: THREADS,
    memory_limit: MEMORY,
    temp_directory: options.spill,
    ...(options.isReadOnly ? { access_mode: "READ_ONLY" } : {}),
  };
  const deadline = performance.now() + options.waitSeconds * 1000;
  for (;;) {
    try {
      return await duckdb.DuckDBInstance.create(path, settings);
    } catch (error) {
      const holder = lockHolder(error);
      if (holder === null) throw error;
      if (performance.now() >= deadline) throw new StoreLockedError(path, holder, { cause: error });
      await delay(RETRY_MILLISECONDS);
    }
  }
}

/** `…/python3.11 (PID 16302)` out of DuckDB's message about a lock, or null if it is about something else. */
export function lockHolder(error: unknown): string | null {
  if (!(error instanceof Error) || !error.message.includes("Could not set lock")) return null;
  return error.message.match(/held in (.+? \(PID \d+\))/)?.[1] ?? "an unknown process";
}

function listOf(parameters?: Parameters): DuckDBValue[] | undefined {
  return parameters === undefined ? undefined : [...parameters];
}

function duckdbType(duckdb: DuckDB, type: ColumnType): DuckDBType {
  // JSON is text to an appender; DuckDB does not look at it before a query does.
  return type === "JSON" ? duckdb.VARCHAR : duckdb[type];
}

function duckdbValue(duckdb: DuckDB, type: ColumnType, cell: Cell): DuckDBValue {
  if (cell === null) return null;
  if (type === "BIGINT") return BigInt(cell as number);
  if (type !== "TIMESTAMP") return cell;
  const milliseconds = Date.parse(cell as string);
  return Number.isNaN(milliseconds) ? null : new duckdb.DuckDBTimestampValue(BigInt(milliseconds) * 1000n);
}

/** DuckDB's bigints, at any depth, as numbers where they are exact. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}
