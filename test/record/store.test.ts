import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { acquireLock } from "../../lib/record/lock.ts";
import { readRun } from "../../lib/record/read_run.ts";
import {
  queryStore,
  rebuildStore,
  StoreLockedError,
  storePath,
  updateStore,
  withStore,
} from "../../lib/record/store.ts";
import { RUN_TABLE_NAMES } from "../../lib/record/store/tables.ts";
import { startFixture } from "./child_process.ts";
import { appendText, writeSampleRun } from "./sample_run.ts";
import { temporaryFolder } from "./temporary_folder.ts";

/** A results root with a few finished runs, written in no particular order. */
async function resultsRoot(): Promise<string> {
  const out = temporaryFolder();
  await writeSampleRun(out, { arm: "inspo", seed: 10 });
  await writeSampleRun(out, { arm: "grpo", seed: 2, settings: { learningRate: 0.5 }, variant: { model: "org/tiny" } });
  await writeSampleRun(out, { arm: "inspo", seed: 2 });
  return out;
}

/** Every table with every row, in the order in which a plain select gives them. */
async function tables(out: string): Promise<Record<string, unknown[]>> {
  return await withStore(out, async (store) => {
    const all: Record<string, unknown[]> = {};
    for (const name of ["meta", "sources", ...RUN_TABLE_NAMES]) all[name] = await store.query(`select * from ${name}`);
    return all;
  });
}

/** Makes another program's database in the store's place. */
async function plantDatabase(out: string, ...statements: string[]): Promise<void> {
  const instance = await DuckDBInstance.create(storePath(out));
  const connection = await instance.connect();
  for (const statement of statements) await connection.run(statement);
  connection.closeSync();
  instance.closeSync();
}

test("rebuildStore() holds every row of every run", async () => {
  const out = await resultsRoot();
  expect(await rebuildStore(out)).toEqual({ path: storePath(out), runs: 3, read: 3, note: null });
  const runs = ["toy/micro/grpo@model=org%2Ftiny/seed-2", "toy/micro/inspo/seed-10", "toy/micro/inspo/seed-2"];
  const { runs: rows, samples, metrics, evaluations, events, timing } = await tables(out);
  expect(rows.map((row) => (row as { run: string }).run)).toEqual(runs);
  expect(rows[0]).toMatchObject({
    recipe: "toy",
    scale: "micro",
    arm: "grpo",
    variant: "model=org/tiny",
    seed: 2,
    state: "finished",
    error: null,
    steps: 3,
    rollouts: 30,
    budget: 100,
    seconds: 4.5,
    commit: "0123456789abcdef",
    diff_hash: null,
    started_at: new Date("2026-01-02T03:04:05.000Z"),
    resumptions: 0,
    is_torn: false,
  });
  const recorded = await readRun(join(out, runs[0]));
  expect(samples.slice(0, 4)).toEqual(
    recorded.samples.map(({ v: _, ...sample }, index) => ({ run: runs[0], line: index + 1, ...sample })),
  );
  expect(metrics.slice(0, 6)).toEqual(
    [[2, 1, "a loss", 0.5], [2, 1, "reward", 0.125], [3, 2, "a loss", null], [3, 2, "reward", 0.25], [
      4,
      3,
      "a loss",
      0.5,
    ], [4, 3, "reward", 0.375]]
      .map(([line, step, name, value]) => ({ run: runs[0], line, step, rollouts: Number(step) * 10, name, value })),
  );
  const evaluation = {
    run: runs[0],
    line: 6,
    evaluation: 0,
    step: 3,
    rollouts: 30,
    panel: "test",
    decoding: "greedy",
    conditioning: "i1",
    n: 4,
  };
  expect(evaluations.slice(0, 2)).toEqual([{ ...evaluation, name: "em", value: 0.5 }, {
    ...evaluation,
    name: "turns",
    value: 2,
  }]);
  expect(events[0]).toEqual({
    run: runs[0],
    line: 5,
    name: "instruction",
    step: 3,
    rollouts: 30,
    data: '{"id":"i1","text":"Search – “first”"}',
  });
  expect(timing[0]).toEqual({
    run: runs[0],
    line: 1,
    step: 1,
    ended_at: new Date("2026-01-02T03:05:01.250Z"),
    seconds: 1.5,
    engine_seconds: 1,
    tokens: 640,
  });
  expect([samples, metrics, evaluations, events, timing].map((each) => each.length)).toEqual([12, 18, 6, 3, 9]);
});

test("rebuildStore() gives equal tables each time, and leaves only the database behind", async () => {
  const out = await resultsRoot();
  await rebuildStore(out);
  const first = await tables(out);
  await rebuildStore(out);
  expect(await tables(out)).toEqual(first);
  expect(readdirSync(out).sort()).toEqual([".store", "coevo.duckdb", "toy"]);
  expect(readdirSync(join(out, ".store"))).toEqual([]);
});

test("rebuildStore() makes an empty store of a folder without runs", async () => {
  const out = join(temporaryFolder(), "new");
  expect(await rebuildStore(out)).toMatchObject({ runs: 0, note: null });
  expect(await queryStore(out, "select * from runs")).toEqual([]);
});

test("rebuildStore() splits a large run into chunks without losing or moving a row", async () => {
  const out = temporaryFolder();
  await writeSampleRun(out, {}, { steps: 1, items: 5000 });
  await rebuildStore(out);
  const rows = await queryStore(out, "select item, line from samples");
  expect(rows).toEqual(Array.from({ length: 5000 }, (_, item) => ({ item: `q${item}`, line: item + 1 })));
});

test("updateStore() reads only runs that changed, and ends with the tables of a rebuild", async () => {
  const out = await resultsRoot();
  expect(await updateStore(out)).toMatchObject({ runs: 3, read: 3 });
  expect(await updateStore(out)).toMatchObject({ runs: 3, read: 0 });
  await writeSampleRun(out, { arm: "a-new-arm", seed: 1 });
  rmSync(join(out, "toy/micro/inspo/seed-2"), { recursive: true });
  appendText(
    join(out, "toy/micro/inspo/seed-10"),
    "timing.jsonl",
    '{"v":1,"step":4,"at":"2026-01-02T03:06:00Z","seconds":2,"engineSeconds":1,"tokens":1}\n',
  );
  expect(await updateStore(out)).toMatchObject({ runs: 3, read: 2 });
  const updated = await tables(out);
  await rebuildStore(out);
  expect(updated).toEqual(await tables(out));
  expect(updated.timing).toHaveLength(10);
});

test("updateStore() does not touch the file where nothing changed", async () => {
  const out = await resultsRoot();
  await updateStore(out);
  const before = statSync(storePath(out));
  await updateStore(out);
  expect(statSync(storePath(out)).ino).toBe(before.ino);
});

test("updateStore() notices that the last run is gone", async () => {
  const out = temporaryFolder();
  const directory = await writeSampleRun(out);
  await updateStore(out);
  rmSync(directory, { recursive: true });
  expect(await updateStore(out)).toMatchObject({ runs: 0 });
  expect(await queryStore(out, "select * from samples")).toEqual([]);
});

test("rebuildStore() leaves out a damaged run, keeps the others and says so each time", async () => {
  const out = await resultsRoot();
  const damaged = join(out, "toy/micro/inspo/seed-2");
  appendText(damaged, "journal.jsonl", "not JSON\n");
  appendText(join(out, "toy/micro/inspo/seed-10"), "journal.jsonl", '{"torn');
  for (const refresh of [rebuildStore, updateStore]) {
    const { runs, note } = await refresh(out);
    expect(runs).toBe(2);
    expect(note).toContain(
      `left out of the store: Cannot read ${JSON.stringify(join(damaged, "journal.jsonl"))}, line 8`,
    );
  }
  expect(await queryStore(out, "select run, is_torn from runs where is_torn")).toEqual([{
    run: "toy/micro/inspo/seed-10",
    is_torn: true,
  }]);
});

test.each<[string, RegExp, (out: string) => unknown]>([
  [
    "a store of another version",
    /is a store of version 999, and this coevo reads and writes/,
    (out) =>
      plantDatabase(
        out,
        "create table meta (key varchar, value varchar)",
        "insert into meta values ('schema_version', '999')",
      ),
  ],
  ["somebody's own database", /is not a store of coevo/, (out) => plantDatabase(out, "create table mine (x integer)")],
  ["a file that is no database", /is not a DuckDB database/, (out) => writeFileSync(storePath(out), "my notes")],
  ["an empty file", /is not a DuckDB database/, (out) => writeFileSync(storePath(out), "")],
])("updateStore() sets %s aside, builds the store and tells of it", async (_, why, plant) => {
  const out = await resultsRoot();
  await plant(out);
  const size = statSync(storePath(out)).size;
  const { runs, note } = await updateStore(out);
  expect(runs).toBe(3);
  expect(note).toMatch(why);
  expect(note).toContain(join(out, "superseded", "coevo.duckdb.1"));
  expect(statSync(join(out, "superseded", "coevo.duckdb.1")).size).toBe(size);
  expect(await updateStore(out)).toMatchObject({ read: 0, note: null });
});

test("rebuildStore() cleans up what a killed command left", async () => {
  const out = await resultsRoot();
  mkdirSync(join(out, ".store", "spill"), { recursive: true });
  writeFileSync(join(out, ".store", "coevo.duckdb"), "half a database");
  writeFileSync(join(out, ".store", "coevo.duckdb.wal"), "half a log");
  writeFileSync(`${storePath(out)}.wal`, "a log of another database");
  await rebuildStore(out);
  expect(readdirSync(join(out, ".store"))).toEqual([]);
  expect(existsSync(`${storePath(out)}.wal`)).toBe(false);
  expect(await queryStore(out, "select count(*) as n from runs")).toEqual([{ n: 3 }]);
});

test("rebuildStore() waits for another command that builds the same store", async () => {
  const out = await resultsRoot();
  const lock = await acquireLock(join(out, ".store"));
  const building = rebuildStore(out);
  await lock.release();
  expect(await building).toMatchObject({ runs: 3 });
});

test("rebuildStore() in several commands at once leaves a whole store", async () => {
  const out = await resultsRoot();
  const updates = await Promise.all([rebuildStore(out), updateStore(out), rebuildStore(out)]);
  expect(updates.map(({ runs }) => runs)).toEqual([3, 3, 3]);
  expect((await tables(out)).samples).toHaveLength(12);
});

test("withStore() waits for a program that has the store open for writing", async () => {
  const out = await resultsRoot();
  await rebuildStore(out);
  const { firstLine, child } = startFixture("hold_database.ts", storePath(out));
  expect(await firstLine).toBe("held");
  const waiting = queryStore(out, "select count(*) as n from samples");
  setTimeout(() => child.stdin!.end(), 200);
  expect(await waiting).toEqual([{ n: 12 }]);
});

test("withStore() names the program that keeps the store locked", async () => {
  const out = await resultsRoot();
  await rebuildStore(out);
  const { firstLine, pid } = startFixture("hold_database.ts", storePath(out));
  expect(await firstLine).toBe("held");
  const refused = await withStore(out, () => Promise.resolve(), { waitSeconds: 0.2 }).then(
    () => null,
    (error: unknown) => error,
  );
  expect(refused).toBeInstanceOf(StoreLockedError);
  expect((refused as StoreLockedError).message).toContain(`(PID ${pid})`);
});

test("rebuildStore() is not stopped by a program that has the old store open, and keeps that program's file", async () => {
  const out = await resultsRoot();
  await rebuildStore(out);
  const { firstLine, pid } = startFixture("hold_database.ts", storePath(out));
  expect(await firstLine).toBe("held");
  const { runs, note } = await rebuildStore(out, { waitSeconds: 0.2 });
  expect(runs).toBe(3);
  expect(note).toContain(`(PID ${pid})`);
  expect(existsSync(join(out, "superseded", "coevo.duckdb.1"))).toBe(true);
  expect(await queryStore(out, "select count(*) as n from runs")).toEqual([{ n: 3 }]);
});

test("withStore() lets readers in together, while the store is rebuilt", async () => {
  const out = await resultsRoot();
  await rebuildStore(out);
  await withStore(out, async (store) => {
    await withStore(out, (other) => other.query("select 1"));
    await writeSampleRun(out, { arm: "late" });
    await updateStore(out);
    expect(await store.query("select count(*) as n from runs")).toEqual([{ n: 3 }]);
  });
  expect(await queryStore(out, "select count(*) as n from runs")).toEqual([{ n: 4 }]);
});

test("withStore() gives whole numbers as numbers at any depth, text beyond 2^53, and takes parameters", async () => {
  const out = await resultsRoot();
  await rebuildStore(out);
  const rows = await withStore(out, (store) =>
    store.query(
      "select count(*) as n, sum(tokens) as total, [1::bigint, 2] as list, {'a': 3::bigint} as struct, 9007199254740993 as big, 1.5 as decimal, 'nan'::double as nan from timing where run = $1 and step < $2",
      ["toy/micro/inspo/seed-2", 3],
    ));
  expect(rows).toEqual([{
    n: 2,
    total: 1280,
    list: [1, 2],
    struct: { a: 3 },
    big: "9007199254740993",
    decimal: 1.5,
    nan: NaN,
  }]);
});

test("withStore() cannot write, and closes after an error", async () => {
  const out = await resultsRoot();
  await rebuildStore(out);
  await expect(queryStore(out, "delete from runs")).rejects.toThrow(/read-only/);
  await expect(withStore(out, () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
  expect(await queryStore(out, "select count(*) as n from runs")).toEqual([{ n: 3 }]);
});

test("withStore() says how to make a store that is missing or of another version", async () => {
  const out = temporaryFolder();
  await expect(queryStore(out, "select 1")).rejects.toThrow(/there is no such file; `deno task store rebuild`/);
  await plantDatabase(out, "create table mine (x integer)");
  await expect(queryStore(out, "select 1")).rejects.toThrow(/it is not a store of coevo; `deno task store rebuild`/);
});

test("withStore() removes what did not fit into memory", async () => {
  const out = temporaryFolder();
  await rebuildStore(out);
  const other = temporaryFolder();
  copyFileSync(storePath(out), storePath(other));
  const rows = await withStore(other, async (store) => {
    await store.query("set memory_limit = '60MB'");
    const top = await store.query(
      "select max(n) as top from (select i as n, row_number() over (order by hash(i)) as place from range(4000000) t(i))",
    );
    expect(readdirSync(other).filter((name) => name.startsWith(".spill-"))).toHaveLength(1);
    return top;
  });
  expect(rows).toEqual([{ top: 3999999 }]);
  expect(readdirSync(other)).toEqual(["coevo.duckdb"]);
});
