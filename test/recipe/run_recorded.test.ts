import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LoopSetup } from "../../lib/method/loop.ts";
import { staticMethod } from "../../lib/method/static.ts";
import { type CellContext, type RecordedSetup, runRecorded } from "../../lib/recipe/run_recorded.ts";
import { readRun } from "../../lib/record/read_run.ts";
import { RecordWriteError } from "../../lib/record/record_errors.ts";
import { sampleConfig, sampleEnvironment } from "../record/fixtures/sample_cell.ts";
import { temporaryFolder } from "../record/temporary_folder.ts";

/** A loop that never waits for anything, as one with an engine in this process. */
function setupOf(change: Partial<LoopSetup<number>> = {}): RecordedSetup<number> {
  return {
    loop: {
      seed: 1,
      engine: null,
      environment: {
        rollout: (requests) =>
          Promise.resolve(requests.map(({ task, conditioning, seed }) => ({
            task,
            conditioning,
            exchanges: [],
            reward: seed % 2,
            answer: null,
            turns: 1,
            counts: {},
          }))),
      },
      method: staticMethod({ id: null, text: "" }),
      trainingTasks: [1, 2, 3],
      taskId: (task) => `q${task}`,
      groupsPerStep: 1,
      groupSize: 1,
      budget: 5,
      temperature: 1,
      evaluationInterval: 1000,
      panels: [{ name: "p", tasks: [4, 5], decodings: [{ name: "greedy", temperature: 0 }] }],
      ...change,
    },
    takeCost: null,
    checkpointInterval: 1_000_000,
  };
}

function contextOf(directory: string, change: Partial<CellContext> = {}): CellContext {
  return {
    directory,
    config: sampleConfig(),
    environment: sampleEnvironment(),
    codeDiff: null,
    options: {},
    isResumed: false,
    onProgress: () => {},
    shouldStop: () => false,
    ...change,
  };
}

test("runRecorded() records a run that can be read back: per-item outcomes, one start, one finish", async () => {
  const directory = join(temporaryFolder(), "run");
  const told: number[] = [];
  const context = contextOf(directory, { onProgress: ({ rollouts }) => void told.push(rollouts) });
  expect(await runRecorded(setupOf(), context)).toBe("finished");
  const { journal, samples, timing, status, config } = await readRun(directory);
  expect(journal.map(({ type }) => type)).toEqual([
    ...["start", "evaluation", "step", "step", "step", "step", "step", "evaluation", "finish"],
  ]);
  expect(samples.map(({ evaluation, item }) => [evaluation, item])).toEqual([[0, "q4"], [0, "q5"], [1, "q4"], [
    1,
    "q5",
  ]]);
  for (const entry of journal.filter((entry) => entry.type === "evaluation")) {
    const own = samples.filter(({ evaluation }) => evaluation === entry.evaluation);
    expect(entry.metrics.em).toBe(own.reduce((sum, { reward }) => sum + reward, 0) / own.length);
  }
  expect(timing.map(({ step }) => step)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(told).toEqual([0, 1, 2, 3, 4, 5]);
  expect(status).toMatchObject({ state: "finished", step: 5, rollouts: 5, budget: 5, error: null });
  expect(config).toEqual(sampleConfig());
});

test("runRecorded() hears of a signal between two steps, though nothing in the loop ever waits", async () => {
  const directory = join(temporaryFolder(), "run");
  let isStopping = false;
  let steps = 0;
  const context = contextOf(directory, {
    shouldStop: () => isStopping,
    onProgress: () => {
      // Comes with the next turn of the event loop, as a signal does.
      if (++steps === 3) setTimeout(() => isStopping = true);
    },
  });
  expect(await runRecorded(setupOf({ budget: 2000 }), context)).toBe("interrupted");
  expect(steps).toBeLessThan(1000);
  const { status, journal } = await readRun(directory);
  expect(status).toMatchObject({ state: "interrupted", step: steps - 1 });
  expect(journal.some(({ type }) => type === "finish")).toBe(false);

  expect(await runRecorded(setupOf({ budget: 2000 }), contextOf(directory))).toBe("finished");
  const whole = join(temporaryFolder(), "run");
  await runRecorded(setupOf({ budget: 2000 }), contextOf(whole));
  for (const file of ["journal.jsonl", "samples.jsonl"]) {
    expect(readFileSync(join(directory, file), "utf8")).toBe(readFileSync(join(whole, file), "utf8"));
  }
});

test("runRecorded() lets an error through and keeps it, with what was recorded before", async () => {
  const directory = join(temporaryFolder(), "run");
  const setup = setupOf();
  const { rollout } = setup.loop.environment;
  let calls = 0;
  setup.loop.environment.rollout = (...args) => {
    if (++calls === 3) throw new Error("the environment broke\nin two lines");
    return rollout(...args);
  };
  await expect(runRecorded(setup, contextOf(directory))).rejects.toThrow("the environment broke");
  const { status, journal } = await readRun(directory);
  expect(status).toMatchObject({ state: "failed", error: "the environment broke" });
  expect(journal.map(({ type }) => type)).toEqual(["start", "evaluation", "step"]);
  // What failed can be tried again.
  expect(await runRecorded(setupOf(), contextOf(directory))).toBe("finished");
});

test("runRecorded() names a checkpoint that does not load, with the remedy; a full disk stays one", async () => {
  const directory = join(temporaryFolder(), "run");
  await runRecorded(setupOf(), contextOf(directory, { shouldStop: () => true }));
  const broken = (error: Error) => {
    const setup = setupOf();
    setup.loop.method.restore = () => {
      throw error;
    };
    return runRecorded(setup, contextOf(directory));
  };
  await expect(broken(new TypeError("no such state"))).rejects.toThrow(
    /step-0.engine": the checkpoint does not load \(no such state\); run again with --fresh/,
  );
  await expect(broken(new RecordWriteError("a file", "ENOSPC"))).rejects.toThrow(RecordWriteError);
});
