import { expect, test } from "vitest";
import type { Datum, Loss } from "../../../lib/engine/engine.ts";
import { plainKernels } from "../../../lib/engine/micro/kernels_plain.ts";
import { loadWasmKernels } from "../../../lib/engine/micro/kernels_wasm.ts";
import { createMicroEngine, type MicroEngine } from "../../../lib/engine/micro/micro_engine.ts";
import { createModel, initialWeights, type Model } from "../../../lib/engine/micro/model.ts";
import { createParameterStore, totalGradient } from "../../../lib/engine/micro/parameter_store.ts";
import { accumulateGradients } from "../../../lib/engine/micro/training.ts";
import { exampleBatch, relativeError } from "./example_batch.ts";
import { numberTokenizer } from "./number_tokenizer.ts";

const ppo: Loss = { kind: "ppo", clipLow: 0.2, clipHigh: 0.2, klCoef: 0.1, aggregation: "token-mean" };
const nll: Loss = { kind: "weighted-nll", aggregation: "token-mean" };
const perSequence: Loss = { kind: "weighted-nll", aggregation: "seq-mean-token-mean" };
const distillation: Loss = { kind: "teacher-kl", teacher: "current", aggregation: "token-mean" };
const batch = exampleBatch(24, [[3, 8], [1, 5], [6, 9], [2, 7], [4, 1]]);

test.each([ppo, nll, perSequence, distillation])(
  "forwardBackward() on parts of a batch adds up to the whole batch: $kind, $aggregation",
  async (loss) => {
    const whole = await makeEngine();
    const metrics = await whole.forwardBackward(batch, loss);
    const parts = await makeEngine();
    await parts.forwardBackward(batch.slice(0, 1), loss);
    await parts.forwardBackward(batch.slice(1, 4), loss);
    await parts.forwardBackward(batch.slice(4), loss);
    expect(relativeError(flat(parts), flat(whole))).toBeLessThan(1e-5);
    expect(metrics.tokens).toBe(batch.flatMap(({ mask }) => [...mask]).filter((m) => m === 1).length);
  },
);

test("forwardBackward() divides losses of different kind and aggregation by their own counts", async () => {
  const alone = await Promise.all([ppo, nll, perSequence].map(async (loss, i) => {
    const engine = await makeEngine();
    await engine.forwardBackward(batch.slice(i), loss);
    return flat(engine);
  }));
  const together = await makeEngine();
  for (const [i, loss] of [ppo, nll, perSequence].entries()) await together.forwardBackward(batch.slice(i), loss);
  expect(relativeError(flat(together), alone[0].map((g, i) => g + alone[1][i] + alone[2][i]))).toBeLessThan(1e-5);
});

test("forwardBackward() cuts a batch larger than one pass without changing its gradient", async () => {
  const large = exampleBatch(24, Array.from({ length: 90 }, (_, i) => [1 + i % 5, 10 + i % 7]));
  const whole = await makeEngine();
  await whole.forwardBackward(large, nll);
  const single = await makeEngine();
  for (const datum of large) await single.forwardBackward([datum], nll);
  expect(relativeError(flat(whole), flat(single))).toBeLessThan(1e-5);
});

test("forwardBackward() ignores whatever a masked token holds", async () => {
  const clean = await makeEngine();
  const poisoned = await makeEngine();
  const spoil = (values: Float32Array, mask: Float32Array) => values.map((value, t) => mask[t] === 0 ? NaN : value);
  const spoilt = batch.map((datum) => ({
    ...datum,
    weights: spoil(datum.weights, datum.mask),
    logprobs: spoil(datum.logprobs!, datum.mask),
  }));
  for (const loss of [ppo, nll, distillation]) {
    expect(await poisoned.forwardBackward(spoilt, loss)).toEqual(await clean.forwardBackward(batch, loss));
  }
  expect(flat(poisoned)).toEqual(flat(clean));
});

test("forwardBackward() on fully masked or empty batches leaves the weights alone", async () => {
  const engine = await makeEngine();
  const before = engine.parameters();
  const masked = batch.map((datum) => ({ ...datum, mask: new Float32Array(datum.mask.length) }));
  expect((await engine.forwardBackward(masked, nll)).loss).toBe(0);
  await engine.forwardBackward([], ppo);
  expect((await engine.optimStep({ learningRate: 0.1 })).grad_norm).toBe(0);
  expect(engine.parameters()).toEqual(before);
});

test("forwardBackward() right after snapshot() has KL 0, ratio 1 and only the surrogate's gradient", async () => {
  const engine = await makeEngine();
  const onPolicy = await withOwnLogprobs(engine, batch);
  const metrics = await engine.forwardBackward(onPolicy, ppo);
  expect(metrics).toMatchObject({ kl: 0, ratio_max: 1, approx_kl: 0, clip_fraction: 0, dual_clip_fraction: 0 });
  const without = await makeEngine();
  await without.forwardBackward(onPolicy, { ...ppo, klCoef: 0 });
  expect(flat(engine)).toEqual(flat(without));
});

test("forwardBackward() reports how far an update went", async () => {
  const engine = await makeEngine();
  const onPolicy = await withOwnLogprobs(engine, batch);
  await engine.forwardBackward(onPolicy, ppo);
  await engine.optimStep({ learningRate: 0.01 });
  const metrics = await engine.forwardBackward(onPolicy, ppo);
  expect(metrics.kl).toBeGreaterThan(0);
  expect(metrics.ratio_max).toBeGreaterThan(1);
  expect(metrics.clip_fraction).toBeGreaterThan(0);
  expect(metrics.entropy).toBeGreaterThan(0);
});

test("optimStep() throws on a non-finite gradient, keeps the weights and clears the gradient", async () => {
  const engine = await makeEngine();
  const before = engine.parameters();
  const broken = batch.map((datum) => ({ ...datum, weights: datum.weights.map(() => Infinity) }));
  await engine.forwardBackward(broken, nll);
  await expect(engine.optimStep({ learningRate: 0.1 })).rejects.toThrow(/the gradient's norm is (NaN|Infinity)/);
  expect(engine.parameters()).toEqual(before);
  expect(flat(engine).every((g) => g === 0)).toBe(true);
  await engine.forwardBackward(batch, nll);
  expect((await engine.optimStep({ learningRate: 0.1 })).step).toBe(1);
});

test("optimStep() scales a gradient above maxGradNorm down and leaves a smaller one alone", async () => {
  const steps = await Promise.all([Infinity, 1e9, 1e-9].map(async (maxGradNorm) => {
    const engine = await makeEngine();
    await engine.forwardBackward(batch, nll);
    const { grad_norm } = await engine.optimStep({ learningRate: 0.01, epsilon: 1e-8, maxGradNorm });
    return { grad_norm, weights: engine.parameters().get("head.weight")! };
  }));
  expect(steps[1]).toEqual(steps[0]);
  expect(steps[2].grad_norm).toBe(steps[0].grad_norm);
  // Far below epsilon a step is proportional to the gradient: next to nothing.
  const initial = (await makeEngine()).parameters().get("head.weight")!;
  expect(relativeError(steps[2].weights, initial)).toBeLessThan(0.01);
  expect(relativeError(steps[0].weights, initial)).toBeGreaterThan(0.01);
});

test.each(["wasm", "plain"] as const)("passes never read what %s memory held before", (kind) => {
  const gradient = (isPoisoned: boolean) => {
    const shape = {
      vocabulary: 24,
      width: 32,
      layers: 2,
      heads: 2,
      feedForward: 40,
      contextLength: 32,
      rotaryBase: 200,
    };
    const model = createModel(shape, kind === "wasm" ? loadWasmKernels() : plainKernels());
    const store = createParameterStore(model, initialWeights(model.layout, 3));
    for (const loss of [ppo, nll, distillation]) {
      accumulateGradients(model, store, batch, loss, store.weights);
      if (isPoisoned) poison(model);
      accumulateGradients(model, store, batch, loss, store.weights);
    }
    const total = totalGradient(model, store) >> 2;
    return model.arena.f32.slice(total, total + model.layout.size);
  };
  const poisoned = gradient(true);
  expect(poisoned.every(Number.isFinite)).toBe(true);
  expect(poisoned).toEqual(gradient(false));
});

/** All free memory becomes NaN, read as a number, and −1, read as a token. */
function poison({ arena }: Model): void {
  arena.release();
  arena.i32.fill(-1, arena.mark() >> 2);
}

async function makeEngine(): Promise<MicroEngine> {
  const engine = createMicroEngine({ tokenizer: numberTokenizer(24), width: 32, contextLength: 32, seed: 3 });
  await engine.snapshot("reference");
  return engine;
}

function flat(engine: MicroEngine): Float32Array {
  return Float32Array.from([...engine.gradients().values()].flatMap((values) => [...values]));
}

async function withOwnLogprobs(engine: MicroEngine, data: Datum[]): Promise<Datum[]> {
  const logprobs = await engine.logprobs(data);
  return data.map((datum, i) => ({ ...datum, logprobs: logprobs[i] }));
}
