import { copyFile, mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createMicroEngine,
  type MicroEngine,
  type MicroEngineOptions,
} from "../../../lib/engine/micro/micro_engine.ts";
import { exampleBatch } from "./example_batch.ts";
import { numberTokenizer } from "./number_tokenizer.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "checkpoint-"));
});
afterEach(() => rm(folder, { recursive: true }));

const path = (name: string) => join(folder, name);

test("load() makes the next update give the same bits as without a break", async () => {
  const engine = await trained(3);
  await engine.save(folder);
  const resumed = makeEngine({ seed: 99 });
  await resumed.load(folder);
  await update(resumed);
  await update(engine);
  expect(resumed.parameters()).toEqual(engine.parameters());
  await resumed.save(path("a"));
  await engine.save(path("b"));
  for (const name of ["model.safetensors", "optimizer.safetensors"]) {
    expect(await readFile(path(`a/${name}`))).toEqual(await readFile(path(`b/${name}`)));
  }
});

test("save() leaves two complete files and replaces earlier ones", async () => {
  const engine = await trained(1);
  await engine.save(folder);
  await update(engine);
  await engine.save(folder);
  expect((await readdir(folder)).sort()).toEqual(["model.safetensors", "optimizer.safetensors"]);
  const loaded = makeEngine();
  await loaded.load(folder);
  expect(loaded.parameters()).toEqual(engine.parameters());
});

test("load() recovers from a save that died between its two renames, and from one that died before", async () => {
  const engine = await trained(1);
  await engine.save(path("old"));
  const old = engine.parameters();
  await update(engine);
  await engine.save(path("new"));
  await copyFile(path("new/optimizer.safetensors"), path("old/optimizer.safetensors.new"));
  await writeFile(path("old/model.safetensors.new"), "half");
  const before = makeEngine();
  await before.load(path("old"));
  expect(before.parameters()).toEqual(old);
  await rename(path("new/model.safetensors"), path("old/model.safetensors"));
  const between = makeEngine();
  await between.load(path("old"));
  expect(between.parameters()).toEqual(engine.parameters());
});

test("load() clears gradients and cached contexts, and names the weights by their hash", async () => {
  const engine = await trained(2);
  await engine.save(folder);
  const sampling = { maxTokens: 5, temperature: 1, seeds: [1] };
  const samples = await engine.sample([Int32Array.of(1, 2, 3)], sampling);
  const other = makeEngine({ seed: 8 });
  await other.sample([Int32Array.of(1, 2, 3)], sampling);
  await other.forwardBackward(batch, { kind: "weighted-nll", aggregation: "token-mean" });
  await other.load(folder);
  expect([...other.gradients().values()].every((values) => values.every((g) => g === 0))).toBe(true);
  expect(await other.sample([Int32Array.of(1, 2, 3)], sampling)).toEqual(samples);
  expect(other.info.model).toMatch(/sha256:[0-9a-f]{64}/);
});

test("loadWeights() reads a model file by path or content and starts the optimizer anew", async () => {
  const engine = await trained(2);
  await engine.save(folder);
  const fresh = makeEngine();
  await fresh.loadWeights(path("model.safetensors"));
  expect(fresh.parameters()).toEqual(engine.parameters());
  const bytes = await readFile(path("model.safetensors"));
  await engine.loadWeights(bytes);
  expect(engine.info.model).toBe(fresh.info.model);
  await update(engine);
  await update(fresh);
  expect(engine.parameters()).toEqual(fresh.parameters());
});

test.each(["model.safetensors", "optimizer.safetensors"])(
  "load() refuses a torn %s and keeps what it had",
  async (name) => {
    const engine = await trained(1);
    await engine.save(folder);
    await truncate(path(name), 5000);
    const before = engine.parameters();
    await update(engine);
    const after = engine.parameters();
    expect(after).not.toEqual(before);
    await expect(engine.load(folder)).rejects.toThrow(new RegExp(`${name}.*torn`));
    expect(engine.parameters()).toEqual(after);
  },
);

test("load() names file, expectation and finding for a model of another shape", async () => {
  await (await trained(1)).save(folder);
  await expect(makeEngine({ feedForward: 48 }).load(folder)).rejects.toThrow(
    /Cannot load .*model\.safetensors: expected tensor "layers\.0\.up\.weight" of shape \[32,48\], found shape \[32,128\]/,
  );
  await expect(makeEngine({ layers: 3 }).load(folder)).rejects.toThrow(
    /"layers\.2\.attention_norm\.weight".*none of that name/,
  );
  await expect(makeEngine({ layers: 1 }).load(folder)).rejects.toThrow(/found also "layers\.1\./);
});

test("load() refuses an optimizer of another model, a missing one, and an empty folder", async () => {
  const engine = await trained(1);
  await engine.save(folder);
  await update(engine);
  await engine.save(path("other"));
  await copyFile(path("other/optimizer.safetensors"), path("optimizer.safetensors"));
  await expect(engine.load(folder)).rejects.toThrow(
    /expected the optimizer state of the model with sha256 [0-9a-f]{64}, found/,
  );
  await rm(path("optimizer.safetensors"));
  await expect(engine.load(folder)).rejects.toThrow(/found no file/);
  await expect(engine.load(path("nowhere"))).rejects.toThrow(/Cannot load .*nowhere.*found no readable file/);
});

test("loadWeights() refuses weights that are not finite", async () => {
  const engine = await trained(1);
  await engine.save(folder);
  const bytes = await readFile(path("model.safetensors"));
  bytes.writeFloatLE(NaN, bytes.length - 4);
  await expect(engine.loadWeights(bytes)).rejects.toThrow(
    /expected finite numbers, found others in tensor "head.weight"/,
  );
});

const batch = exampleBatch(24, [[3, 8], [1, 5], [6, 9]]);

function makeEngine(options: Partial<MicroEngineOptions> = {}): MicroEngine {
  return createMicroEngine({ tokenizer: numberTokenizer(24), width: 32, contextLength: 24, seed: 3, ...options });
}

async function trained(steps: number): Promise<MicroEngine> {
  const engine = makeEngine();
  for (let step = 0; step < steps; step++) await update(engine);
  return engine;
}

async function update(engine: MicroEngine): Promise<void> {
  await engine.forwardBackward(batch, { kind: "weighted-nll", aggregation: "token-mean" });
  await engine.optimStep({ learningRate: 0.01, weightDecay: 0.01, maxGradNorm: 1 });
}
