import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRun } from "../../lib/record/read_run.ts";
import { openRun, resumePoint, type RunWriter } from "../../lib/record/run_writer.ts";
import type { SampleRow, TimingRow } from "../../lib/record/schema.ts";
import { appendText, sampleOpening } from "./sample_run.ts";
import { temporaryFolder } from "./temporary_folder.ts";

const FILES = ["journal.jsonl", "samples.jsonl", "timing.jsonl"];
const step = (step: number, reward = 0.5) => ({
  v: 1 as const,
  type: "step" as const,
  step,
  rollouts: step * 10,
  metrics: { reward },
});
const sample = (step: number): SampleRow => ({
  v: 1,
  evaluation: step,
  step,
  panel: "p",
  decoding: "greedy",
  item: "q1",
  reward: 1,
  answer: "a",
  turns: 2,
});
const timing = (step: number): TimingRow => ({
  v: 1,
  step,
  at: "2026-01-02T03:04:05Z",
  seconds: 1,
  engineSeconds: 0.5,
  tokens: 9,
});

function takeStep(run: RunWriter, at: number): void {
  run.journal(step(at));
  run.sample(sample(at));
  run.timing(timing(at));
}

const saveStep = (at: number) => (folder: string) =>
  Promise.resolve(writeFileSync(join(folder, "weights"), `weights ${at}`));

/** A run with a checkpoint after step 2 that was killed in step 4. */
async function killedRun(): Promise<string> {
  const directory = join(temporaryFolder(), "seed-1");
  const run = await openRun(directory, sampleOpening());
  for (const at of [1, 2]) takeStep(run, at);
  await run.checkpoint(2, { population: { b: 1, a: 2 } }, saveStep(2));
  for (const at of [3, 4]) takeStep(run, at);
  await run.close();
  return directory;
}

const read = (directory: string) => FILES.map((file) => readFileSync(join(directory, file), "utf8"));

test("openRun() starts a run whose files can be read back", async () => {
  const directory = join(temporaryFolder(), "deep", "seed-1");
  const opening = { ...sampleOpening(), codeDiff: "diff --git a/x b/x\n" };
  const run = await openRun(directory, opening);
  expect(run.resume).toBeNull();
  takeStep(run, 1);
  await run.close();
  const record = await readRun(directory);
  expect(record.config).toEqual(opening.config);
  expect(record.environment).toEqual(opening.environment);
  expect(record.journal).toEqual([step(1)]);
  expect(record.samples).toEqual([sample(1)]);
  expect(record.timing).toEqual([timing(1)]);
  expect(record.status).toMatchObject({ state: "running", step: 0, rollouts: 0, budget: 100, error: null });
  expect(readFileSync(join(directory, "code.diff"), "utf8")).toBe(opening.codeDiff);
});

test("timing() ends a step: a live reader sees all of it", async () => {
  const directory = join(temporaryFolder(), "seed-1");
  const run = await openRun(directory, sampleOpening());
  takeStep(run, 1);
  const { journal, samples } = await readRun(directory);
  expect([journal.length, samples.length]).toEqual([1, 1]);
  await run.close();
});

test("openRun() goes on from the checkpoint and cuts off what came after it", async () => {
  const directory = await killedRun();
  const run = await openRun(directory, sampleOpening());
  expect(run.resume).toMatchObject({ step: 2, state: { population: { b: 1, a: 2 } } });
  expect(Object.keys((run.resume?.state as { population: object }).population)).toEqual(["b", "a"]);
  expect(readFileSync(join(run.resume!.enginePath, "weights"), "utf8")).toBe("weights 2");
  await run.close();
  const { journal, samples, timing: rows, status, resumptions } = await readRun(directory);
  expect([journal, samples, rows]).toEqual([[step(1), step(2)], [sample(1), sample(2)], [timing(1), timing(2)]]);
  expect(status).toMatchObject({ state: "running", step: 2, rollouts: 20 });
  expect(resumptions).toHaveLength(1);
});

test("a resumed run that repeats its steps leaves the files of an undisturbed one", async () => {
  const calm = join(temporaryFolder(), "seed-1");
  const undisturbed = await openRun(calm, sampleOpening());
  for (const at of [1, 2, 3, 4]) takeStep(undisturbed, at);
  await undisturbed.close();
  const directory = await killedRun();
  const run = await openRun(directory, sampleOpening());
  for (const at of [3, 4]) takeStep(run, at);
  await run.close();
  expect(read(directory)).toEqual(read(calm));
});

test("checkpoint() leaves one checkpoint, also when a step is kept twice", async () => {
  const directory = await killedRun();
  const run = await openRun(directory, sampleOpening());
  for (const at of [5, 5, 5, 6]) {
    await run.checkpoint(at, { at }, saveStep(at));
    expect(readdirSync(join(directory, "checkpoint"))).toHaveLength(2);
    expect(await resumePoint(directory)).toMatchObject({ step: at, state: { at } });
  }
  await run.close();
});

test("checkpoint() whose engine cannot save keeps the one before", async () => {
  const directory = await killedRun();
  const run = await openRun(directory, sampleOpening());
  const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
  await expect(run.checkpoint(3, {}, () => Promise.reject(full))).rejects.toMatchObject({
    name: "RecordWriteError",
    code: "ENOSPC",
  });
  await expect(run.checkpoint(3, {}, () => Promise.reject(new Error("lost the GPU")))).rejects.toThrow("lost the GPU");
  await expect(run.checkpoint(3, { weight: NaN }, saveStep(3))).rejects.toThrow(".state.weight");
  await run.close();
  expect(await resumePoint(directory)).toMatchObject({ step: 2 });
});

test.each<[string, (directory: string) => void]>([
  [
    "a checkpoint folder without its state",
    (directory) => appendText(join(directory, "checkpoint/step-4/engine"), "weights", "wei"),
  ],
  ["a whole checkpoint folder that is not pointed at yet", (directory) => {
    appendText(
      join(directory, "checkpoint/step-4"),
      "state.json",
      '{"version":1,"step":4,"sizes":{"journal":1,"samples":1,"timing":1},"state":{}}',
    );
  }],
  ["a draft of the pointer", (directory) => appendText(join(directory, "checkpoint"), "latest.new", "step-")],
  [
    "an older checkpoint that was not removed yet",
    (directory) => appendText(join(directory, "checkpoint/step-1"), "state.json", "{}"),
  ],
  ["torn last lines", (directory) => FILES.forEach((file) => appendText(directory, file, '{"v":1,"ty'))],
  ["no status.json", (directory) => rmSync(join(directory, "status.json"))],
  ["a draft of status.json", (directory) => appendText(directory, "status.json.new", '{"ver')],
])("a kill that leaves %s can be resumed from", async (_, damage) => {
  const directory = await killedRun();
  damage(directory);
  const run = await openRun(directory, sampleOpening());
  expect(run.resume).toMatchObject({ step: 2 });
  takeStep(run, 3);
  await run.checkpoint(3, { at: 3 }, saveStep(3));
  await run.close();
  expect(readdirSync(join(directory, "checkpoint")).sort()).toEqual(["latest", "step-3"]);
  const { journal, samples, torn } = await readRun(directory);
  expect([journal, samples]).toEqual([[step(1), step(2), step(3)], [sample(1), sample(2), sample(3)]]);
  expect(torn).toEqual({ journal: false, samples: false, timing: false });
});

test("a kill before the first checkpoint was pointed at starts the run again", async () => {
  const directory = await killedRun();
  rmSync(join(directory, "checkpoint", "latest"));
  const run = await openRun(directory, sampleOpening());
  expect(run.resume).toBeNull();
  await run.checkpoint(1, {}, saveStep(1));
  await run.close();
  expect(read(directory)).toEqual(["", "", ""]);
  expect((await readRun(directory)).resumptions).toEqual([]);
  expect(readdirSync(join(directory, "checkpoint")).sort()).toEqual(["latest", "step-1"]);
});

test("a kill before config.json was written starts the run", async () => {
  const directory = join(temporaryFolder(), "seed-1");
  appendText(directory, "environment.json", "{");
  appendText(directory, "config.json.new", "{");
  await (await openRun(directory, sampleOpening())).close();
  expect((await readRun(directory)).journal).toEqual([]);
});

test("openRun() refuses a checkpoint that something damaged, and names file and remedy", async () => {
  const directory = await killedRun();
  writeFileSync(join(directory, "checkpoint", "step-2", "state.json"), '{"version":1,');
  await expect(openRun(directory, sampleOpening())).rejects.toThrow(
    /step-2.state\.json.*damaged; run again with --fresh/,
  );
});

test("openRun() refuses a journal that lost rows its checkpoint counts on", async () => {
  const directory = await killedRun();
  writeFileSync(join(directory, "journal.jsonl"), "");
  await expect(openRun(directory, sampleOpening())).rejects.toThrow(/journal\.jsonl.*has 0 bytes, but its checkpoint/);
});

test("openRun() refuses a run of other settings and a finished one, and changes neither", async () => {
  const directory = await killedRun();
  const before = read(directory);
  await expect(openRun(directory, sampleOpening({ settings: { learningRate: 1 } }))).rejects.toThrow(/other settings/);
  expect(read(directory)).toEqual(before);
  const run = await openRun(directory, sampleOpening());
  await run.finish({ step: 4, rollouts: 40, reason: "budget" });
  await run.close();
  await expect(openRun(directory, sampleOpening())).rejects.toThrow(/it is finished/);
});

test("finish() writes the journal's last line and the status", async () => {
  const directory = await killedRun();
  const run = await openRun(directory, sampleOpening());
  await run.finish({ step: 2, rollouts: 20, reason: "budget", metrics: { em: NaN } });
  await run.close();
  const { journal, status } = await readRun(directory);
  expect(journal.at(-1)).toEqual({
    v: 1,
    type: "finish",
    step: 2,
    rollouts: 20,
    reason: "budget",
    metrics: { em: null },
  });
  expect(status).toMatchObject({ state: "finished", step: 2, rollouts: 20 });
});

test("status() follows the journal and keeps what is not given", async () => {
  const directory = join(temporaryFolder(), "seed-1");
  const run = await openRun(directory, sampleOpening());
  takeStep(run, 7);
  await run.status({ state: "interrupted" });
  expect((await readRun(directory)).status).toMatchObject({ state: "interrupted", step: 7, rollouts: 70, budget: 100 });
  await run.fail("Cannot reach the retriever\n    at somewhere");
  expect((await readRun(directory)).status).toMatchObject({
    state: "failed",
    step: 7,
    error: "Cannot reach the retriever",
  });
  await run.close();
});

test("a metric that is not finite becomes null; a reward or a time that is not finite is refused", async () => {
  const directory = join(temporaryFolder(), "seed-1");
  const run = await openRun(directory, { ...sampleOpening(), isChecked: false });
  run.journal(step(1, -Infinity));
  expect(() => run.sample({ ...sample(1), reward: NaN })).toThrow(/samples\.jsonl": reward is NaN/);
  expect(() => run.timing({ ...timing(1), seconds: Infinity })).toThrow(/seconds is Infinity/);
  await run.close();
  const { journal, samples } = await readRun(directory);
  expect(journal).toEqual([{ ...step(1), metrics: { reward: null } }]);
  expect(samples).toEqual([]);
});

test("openRun() with isChecked refuses a row that a reader would refuse", async () => {
  const run = await openRun(join(temporaryFolder(), "seed-1"), sampleOpening());
  expect(() => run.journal({ ...step(1), step: -1 })).toThrow(TypeError);
  expect(() => run.sample({ ...sample(1), extra: 1 } as SampleRow)).toThrow(/samples\.jsonl.*extra/s);
  run.journal(step(1, NaN));
  await run.close();
});

test.skipIf(!existsSync("/dev/full"))(
  "a full disk stops a run with one clear error, which fail() and close() do not hide",
  async () => {
    const directory = join(temporaryFolder(), "seed-1");
    mkdirSync(directory);
    symlinkSync("/dev/full", join(directory, "samples.jsonl"));
    const run = await openRun(directory, sampleOpening());
    run.journal(step(1));
    run.sample(sample(1));
    expect(() => run.timing(timing(1))).toThrow(expect.objectContaining({ name: "RecordWriteError", code: "ENOSPC" }));
    await expect(run.checkpoint(1, {}, saveStep(1))).rejects.toMatchObject({ code: "ENOSPC" });
    await run.fail("no space");
    await run.close();
    expect(await resumePoint(directory)).toBeNull();
    expect(JSON.parse(readFileSync(join(directory, "status.json"), "utf8"))).toMatchObject({
      state: "failed",
      error: "no space",
    });
  },
);

test("openRun() reports a folder that cannot be made", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  await expect(openRun(join(folder, "file", "seed-1"), sampleOpening())).rejects.toMatchObject({
    name: "RecordWriteError",
    code: "ENOTDIR",
  });
});
