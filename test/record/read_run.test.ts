import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRun } from "../../lib/record/read_run.ts";
import { RecordReadError } from "../../lib/record/record_errors.ts";
import { sampleConfig, sampleEnvironment } from "./fixtures/sample_cell.ts";
import { appendText, writeSampleRun } from "./sample_run.ts";
import { temporaryFolder } from "./temporary_folder.ts";

/** A finished run with one change in one of its files. */
async function changedRun(file: string, change: (text: string) => string): Promise<string> {
  const directory = await writeSampleRun(temporaryFolder());
  const path = join(directory, file);
  const text = readFileSync(path, "utf8");
  expect(change(text)).not.toBe(text);
  writeFileSync(path, change(text));
  return directory;
}

test("readRun() reads everything that was written", async () => {
  const directory = await writeSampleRun(temporaryFolder());
  const run = await readRun(directory);
  expect(run).toMatchObject({ directory, config: sampleConfig(), environment: sampleEnvironment(), resumptions: [] });
  expect(run.status).toMatchObject({ state: "finished", step: 3, rollouts: 30, budget: 100 });
  expect(run.journal.map(({ type }) => type)).toEqual([
    "start",
    "step",
    "step",
    "step",
    "event",
    "evaluation",
    "finish",
  ]);
  expect(run.journal[2]).toMatchObject({ metrics: { reward: 0.25, "a loss": null } });
  expect(run.samples.map(({ item, answer }) => [item, answer])).toEqual([["q0", null], ["q1", "Ørsted"], ["q2", null], [
    "q3",
    "Ørsted",
  ]]);
  expect(run.timing.map(({ tokens }) => tokens)).toEqual([640, 640, 640]);
  expect(run.torn).toEqual({ journal: false, samples: false, timing: false });
});

test("readRun() says which file ended in a torn line", async () => {
  const directory = await writeSampleRun(temporaryFolder());
  appendText(directory, "samples.jsonl", '{"v":1,"eval');
  const { samples, torn } = await readRun(directory);
  expect(samples).toHaveLength(4);
  expect(torn).toEqual({ journal: false, samples: true, timing: false });
});

test("readRun() reads a run that has no rows and no status yet", async () => {
  const directory = await writeSampleRun(temporaryFolder());
  for (const file of ["journal.jsonl", "samples.jsonl", "timing.jsonl", "status.json"]) rmSync(join(directory, file));
  expect(await readRun(directory)).toMatchObject({ journal: [], samples: [], timing: [], status: null });
});

test("readRun() names file, line and field of a row that does not fit", async () => {
  const directory = await changedRun("samples.jsonl", (text) => text.replace('"q2","reward":0', '"q2","reward":"0"'));
  const reading = readRun(directory);
  await expect(reading).rejects.toMatchObject({
    name: "RecordReadError",
    path: join(directory, "samples.jsonl"),
    line: 3,
  });
  await expect(reading).rejects.toThrow(/samples\.jsonl", line 3: reward: .*number/);
});

test("readRun() names the version of a record that another coevo wrote, and what to do", async () => {
  for (const [file, from] of [["journal.jsonl", '"v":1'], ["config.json", '"version": 1']]) {
    const directory = await changedRun(file, (text) => text.replaceAll(from, from.replace("1", "7")));
    await expect(readRun(directory)).rejects.toThrow(/record version 7, and this coevo reads 1; .*--fresh/);
  }
});

test("readRun() refuses a directory without a run", async () => {
  await expect(readRun(temporaryFolder())).rejects.toThrow(RecordReadError);
  const directory = await writeSampleRun(temporaryFolder());
  rmSync(join(directory, "environment.json"));
  await expect(readRun(directory)).rejects.toThrow(/environment\.json": the file is missing/);
});

test("readRun() refuses a status.json that is not JSON", async () => {
  const directory = await changedRun("status.json", (text) => text.slice(0, 20));
  await expect(readRun(directory)).rejects.toThrow(/status\.json": not JSON/);
});
