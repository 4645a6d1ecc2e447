import { expect, test } from "vitest";
import type { Kernels } from "../../../lib/engine/micro/kernels.ts";
import { loadWasmKernels } from "../../../lib/engine/micro/kernels_wasm.ts";
import { assignSlots, commonPrefix, createKvCache, type KvCache } from "../../../lib/engine/micro/kv_cache.ts";
import { createModel, initialWeights, type Model } from "../../../lib/engine/micro/model.ts";
import { createParameterStore } from "../../../lib/engine/micro/parameter_store.ts";
import { samplePrompts } from "../../../lib/engine/micro/sampling.ts";
import { accumulateGradients } from "../../../lib/engine/micro/training.ts";
import { exampleBatch } from "./example_batch.ts";

const shape = { vocabulary: 24, width: 32, layers: 2, heads: 2, feedForward: 40, contextLength: 96, rotaryBase: 200 };

test("samplePrompts() reads only what is new: a next turn's tokens, and equal prompts once", () => {
  const { kernels, rows } = countingKernels();
  const model = createModel(shape, kernels);
  const weights = createParameterStore(model, initialWeights(model.layout, 3)).weights;
  const cache = createKvCache(model, 8);
  const read = (prompts: Int32Array[], maxTokens: number, n = 1) => {
    const before = rows();
    const options = { n, maxTokens, temperature: 1, seeds: prompts.map((_, i) => i) };
    const samples = samplePrompts({ model, weights, cache, options, isStopped: () => false }, prompts);
    return { read: (rows() - before) / shape.layers, samples };
  };
  const prompts = exampleBatch(24, [[10, 1], [7, 1], [12, 1]]).map(({ prompt }) => prompt);
  const first = read(prompts, 5);
  // The last sampled token is never read.
  expect(first.read).toBe(10 + 7 + 12 + 3 * 4);
  const contexts = first.samples.map(([{ tokens }], i) => Int32Array.of(...prompts[i], ...tokens, 1, 2));
  expect(read(contexts.toReversed(), 1).read).toBe(3 * (1 + 2));
  expect(read(contexts, 1).read).toBe(3);
  const fresh = Int32Array.from({ length: 20 }, (_, t) => (prompts[0][0] + prompts[1][0] + prompts[2][0] + t) % 24);
  const shared = Math.max(...cache.slots.map((slot) => commonPrefix(slot, fresh)));
  expect(read([fresh], 1, 8).read).toBe(20 - shared);
});

test("assignSlots() gives each slot once: to the context that continues it, else the longest shared, else the oldest", () => {
  const { slots } = cacheWith([[1, 2, 3], [1, 2], [5, 6], [7]]);
  const cache: KvCache = { slots, valueOffset: 0, layerStride: 0, clock: 0 };
  const order = (...contexts: number[][]) =>
    assignSlots(cache, contexts.map((context) => Int32Array.from(context))).map((slot) => slots.indexOf(slot));
  expect(order([1, 2, 4], [1, 2, 3, 4])).toEqual([1, 0]);
  expect(order([5, 9], [5, 6, 7])).toEqual([0, 2]);
  expect(order([5, 9])).toEqual([2]);
  slots[3].lastUse = -1;
  expect(order([8])).toEqual([3]);
  expect(order([8], [8], [8], [8]).toSorted()).toEqual([0, 1, 2, 3]);
  expect(() => order([8], [8], [8], [8], [8])).toThrow(/5 contexts in 4 slots/);
});

test("commonPrefix() counts cached tokens only", () => {
  const [slot] = cacheWith([[1, 2, 3]]).slots;
  expect(commonPrefix(slot, Int32Array.of(1, 2, 3, 4))).toBe(3);
  expect(commonPrefix(slot, Int32Array.of(1, 2))).toBe(2);
  expect(commonPrefix(slot, Int32Array.of(2))).toBe(0);
  slot.cached = 1;
  expect(commonPrefix(slot, Int32Array.of(1, 2, 3, 4))).toBe(1);
});

test("the default model trains on 64 × 96 tokens and samples 64 contexts in less than 40 MB", () => {
  const size = { ...shape, vocabulary: 128, width: 64, heads: 4, feedForward: 256 };
  const model = createModel(size, loadWasmKernels());
  const store = createParameterStore(model, initialWeights(model.layout, 3));
  const batch = exampleBatch(128, Array.from({ length: 64 }, () => [16, 80]));
  accumulateGradients(model, store, batch, { kind: "weighted-nll", aggregation: "token-mean" }, undefined);
  const options = { maxTokens: 2, temperature: 1, seeds: batch.map((_, i) => i) };
  const cache = createKvCache(model, 64);
  const sampler = { model, weights: store.weights, cache, options, isStopped: () => false };
  samplePrompts(sampler, batch.map(({ prompt }) => prompt));
  expect(model.kernels.memory.buffer.byteLength).toBeLessThan(40e6);
});

function cacheWith(contexts: number[][]): KvCache {
  const model: Model = createModel(shape, loadWasmKernels());
  const cache = createKvCache(model, contexts.length);
  for (const [i, context] of contexts.entries()) {
    cache.slots[i].tokens.set(context);
    cache.slots[i].length = cache.slots[i].cached = context.length;
  }
  return cache;
}

/** Kernels that count the rows of cached attention. */
function countingKernels(): { kernels: Kernels; rows: () => number } {
  const inner = loadWasmKernels();
  let rows = 0;
  const cachedAttention: Kernels["cachedAttention"] = (...args) => {
    rows += args[7];
    inner.cachedAttention(...args);
  };
  return { kernels: { ...inner, cachedAttention }, rows: () => rows };
}
