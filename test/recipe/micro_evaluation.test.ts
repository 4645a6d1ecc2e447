import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { UsageError } from "../../lib/recipe/command_line.ts";
import { executeCell } from "../../lib/recipe/execute_cell.ts";
import { evaluateMicroCheckpoint, locateWeights } from "../../recipes/inspo/micro_evaluation.ts";
import { MICRO_LOOP } from "../../recipes/inspo/micro_settings.ts";
import { recipe } from "../../recipes/inspo/recipe.ts";

const folder = mkdtempSync(join(tmpdir(), "coevo-"));
const run = join(folder, "seed-1");
let step = "";

beforeAll(async () => {
  const cell = { recipe: "inspo", scale: "micro", arm: "inspo", seed: 1 };
  const resolved = await recipe.scales.micro.resolve(cell.arm, cell.seed, { rollouts: 64 }, {});
  const order = { cell: { ...cell, ...resolved }, directory: run, command: "test", options: {} };
  await executeCell(recipe, order, { onProgress: () => {}, shouldStop: () => false });
  step = readFileSync(join(run, "checkpoint/latest"), "utf8").trim();
  // As if another instruction had been evolved.
  const journal = join(run, "journal.jsonl");
  writeFileSync(journal, readFileSync(journal, "utf8").replaceAll(MICRO_LOOP.seedInstruction, "step only"));
  copyFileSync(join(run, "checkpoint", step, "engine/model.safetensors"), join(folder, "model.safetensors"));
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true }));

test("locateWeights() takes a run's directory and every folder down to its weights, with the run's instruction", async () => {
  const inRun = ["", "checkpoint", `checkpoint/${step}`, `checkpoint/${step}/engine`];
  const file = join(run, "checkpoint", step, "engine/model.safetensors");
  for (const path of [...inRun.map((name) => join(run, name)), `${run}/checkpoint/`, file]) {
    expect({ path, ...await locateWeights(path) }).toEqual({ path, file, instruction: "step only" });
  }
});

test("locateWeights() reads weights outside of a run under the seed instruction", async () => {
  const file = join(folder, "model.safetensors");
  const expected = { file, instruction: MICRO_LOOP.seedInstruction };
  expect(await locateWeights(folder)).toEqual(expected);
  expect(await locateWeights(file)).toEqual(expected);
});

test.each(["absent", "seed-1/checkpoint/absent"])("locateWeights(%j) is a usage error", async (name) => {
  await expect(locateWeights(join(folder, name))).rejects.toThrow(UsageError);
  await expect(locateWeights(join(folder, name))).rejects.toThrow(/--evaluate: no weights in /);
});

test(
  "evaluateMicroCheckpoint() scores the seed's 200 test questions with both decodings, by the instruction",
  async () => {
    const evolved = await evaluateMicroCheckpoint(join(run, "checkpoint"), 1);
    const seed = await evaluateMicroCheckpoint(folder, 1);
    expect(evolved.weights).toBe(seed.weights);
    expect(evolved.scores.map(({ decoding, n }) => [decoding, n])).toEqual([["T=1", 200], ["greedy", 200]]);
    // The base policy was taught to chain when it reads "step".
    expect(evolved.scores[1].successes).toBeGreaterThan(seed.scores[1].successes + 50);
  },
  60_000,
);
