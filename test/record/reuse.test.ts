import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { acquireLock } from "../../lib/record/lock.ts";
import { prepareDirectory, reuseOf, supersede } from "../../lib/record/reuse.ts";
import { openRun } from "../../lib/record/run_writer.ts";
import { sampleConfig } from "./fixtures/sample_cell.ts";
import { appendText, sampleOpening, writeSampleRun } from "./sample_run.ts";
import { temporaryFolder } from "./temporary_folder.ts";

const { hash } = sampleConfig();
const otherHash = sampleConfig({ settings: { learningRate: 1 } }).hash;

/** A run that was stopped, with or without a checkpoint. */
async function stoppedRun(out: string, hasCheckpoint: boolean): Promise<string> {
  const directory = join(out, "toy", "micro", "grpo", "seed-1");
  const run = await openRun(directory, sampleOpening());
  run.journal({ v: 1, type: "step", step: 1, rollouts: 10, metrics: {} });
  if (hasCheckpoint) await run.checkpoint(1, {}, () => Promise.resolve());
  await run.close();
  return directory;
}

test("reuseOf() says new for a directory that is missing, empty or only locked", async () => {
  const directory = join(temporaryFolder(), "seed-1");
  expect(await reuseOf(directory, hash)).toBe("new");
  const lock = await acquireLock(directory);
  expect(await reuseOf(directory, hash)).toBe("new");
  await lock.release();
  expect(await reuseOf(directory, hash)).toBe("new");
});

test("reuseOf() says reuse only for a finished run of the same settings", async () => {
  const directory = await writeSampleRun(temporaryFolder());
  expect(await reuseOf(directory, hash)).toBe("reuse");
  expect(await reuseOf(directory, otherHash)).toBe("supersede");
});

test("reuseOf() says resume for a checkpoint of the same settings, and new where there is none to go on from", async () => {
  expect(await reuseOf(await stoppedRun(temporaryFolder(), true), hash)).toBe("resume");
  expect(await reuseOf(await stoppedRun(temporaryFolder(), true), otherHash)).toBe("supersede");
  expect(await reuseOf(await stoppedRun(temporaryFolder(), false), hash)).toBe("new");
});

test.each([
  ["names a folder that is gone", (checkpoint: string) => rmSync(join(checkpoint, "step-1"), { recursive: true })],
  [
    "has a torn state",
    (checkpoint: string) => writeFileSync(join(checkpoint, "step-1", "state.json"), '{"version":1,'),
  ],
  ["names no folder of ours", (checkpoint: string) => writeFileSync(join(checkpoint, "latest"), "../../elsewhere")],
])(
  "reuseOf() says supersede where the checkpoint %s, so that the cell starts anew and nothing is lost",
  async (_, damage) => {
    const out = temporaryFolder();
    const directory = await stoppedRun(out, true);
    damage(join(directory, "checkpoint"));
    expect(await reuseOf(directory, hash)).toBe("supersede");
    const journal = readFileSync(join(directory, "journal.jsonl"), "utf8");
    await prepareDirectory(directory, { out, hash, isFresh: false });
    expect(readFileSync(join(out, "superseded/toy/micro/grpo/seed-1.1/journal.jsonl"), "utf8")).toBe(journal);
    const run = await openRun(directory, sampleOpening());
    expect(run.resume).toBeNull();
    await run.close();
  },
);

test("reuseOf() does not trust a config that was edited after its hash was taken", async () => {
  const directory = await writeSampleRun(temporaryFolder());
  const path = join(directory, "config.json");
  writeFileSync(path, readFileSync(path, "utf8").replace('"learningRate": 0.001', '"learningRate": 0.002'));
  expect(await reuseOf(directory, hash)).toBe("supersede");
});

test.each([
  ["a torn config.json", "config.json", '{"version":1,'],
  ["a config.json of another version", "config.json", '{"version":2}'],
  ["rows without a config.json", "journal.jsonl", "{}\n"],
])("reuseOf() says supersede for %s", async (_, file, text) => {
  const directory = join(temporaryFolder(), "seed-1");
  appendText(directory, file, text);
  expect(await reuseOf(directory, hash)).toBe("supersede");
});

test("prepareDirectory() moves a run of other settings to superseded/ as it is", async () => {
  const out = temporaryFolder();
  const directory = await writeSampleRun(out);
  const files = readdirSync(directory).sort();
  expect(await prepareDirectory(directory, { out, hash: otherHash, isFresh: false })).toBe("supersede");
  expect(existsSync(directory)).toBe(false);
  expect(readdirSync(join(out, "superseded/toy/micro/grpo/seed-1.1")).sort()).toEqual(files);
});

test("prepareDirectory() keeps every superseded run under a number of its own", async () => {
  const out = temporaryFolder();
  for (let round = 1; round <= 3; round++) {
    const directory = await writeSampleRun(out);
    expect(await prepareDirectory(directory, { out, hash, isFresh: true })).toBe("supersede");
  }
  expect(readdirSync(join(out, "superseded/toy/micro/grpo")).sort()).toEqual(["seed-1.1", "seed-1.2", "seed-1.3"]);
});

test("prepareDirectory() moves nothing that is new, resumed or reused", async () => {
  for (
    const directoryOf of [
      writeSampleRun,
      (out: string) => stoppedRun(out, true),
      (out: string) => stoppedRun(out, false),
    ]
  ) {
    const out = temporaryFolder();
    const directory = await directoryOf(out);
    expect(await prepareDirectory(directory, { out, hash, isFresh: false })).toBe(await reuseOf(directory, hash));
    expect(existsSync(join(directory, "config.json"))).toBe(true);
    expect(existsSync(join(out, "superseded"))).toBe(false);
  }
});

test("prepareDirectory() with isFresh keeps an unfinished run without a checkpoint too", async () => {
  const out = temporaryFolder();
  const directory = await stoppedRun(out, false);
  expect(await prepareDirectory(directory, { out, hash, isFresh: true })).toBe("supersede");
  expect(existsSync(join(out, "superseded/toy/micro/grpo/seed-1.1/journal.jsonl"))).toBe(true);
  expect(await prepareDirectory(directory, { out, hash, isFresh: true })).toBe("new");
});

test("prepareDirectory() does not move a directory in which a process is at work", async () => {
  const out = temporaryFolder();
  const directory = await writeSampleRun(out);
  const lock = await acquireLock(directory);
  await expect(prepareDirectory(directory, { out, hash, isFresh: true })).rejects.toMatchObject({
    name: "AlreadyRunningError",
  });
  expect(existsSync(join(directory, "config.json"))).toBe(true);
  await lock.release();
});

test.each(["..", ".", "../elsewhere"])("supersede() refuses %j, which is not below the results root", async (place) => {
  const out = join(temporaryFolder(), "results");
  mkdirSync(out);
  await expect(supersede(out, join(out, place))).rejects.toThrow(RangeError);
});
