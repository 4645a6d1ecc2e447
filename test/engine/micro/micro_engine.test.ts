import { expect, test } from "vitest";
import type { Datum, Loss } from "../../../lib/engine/engine.ts";
import { createMicroEngine, type MicroEngineOptions } from "../../../lib/engine/micro/micro_engine.ts";
import { exampleBatch } from "./example_batch.ts";
import { numberTokenizer } from "./number_tokenizer.ts";

const options: MicroEngineOptions = { tokenizer: numberTokenizer(24), width: 32, contextLength: 24, seed: 3 };
const nll: Loss = { kind: "weighted-nll", aggregation: "token-mean" };

test("createMicroEngine() says what it is", () => {
  const { info } = createMicroEngine({ ...options, tokenizer: numberTokenizer(128), width: 64 });
  expect(info).toMatchObject({
    name: "micro",
    contextLength: 24,
    vocabulary: 128,
    parameters: 115_008,
    capabilities: { training: true, snapshots: true, losses: ["ppo", "weighted-nll", "teacher-kl"], seed: "honoured" },
  });
  expect(info.device).toContain("wasm-simd");
});

test("createMicroEngine() gives equal weights for equal seeds and others for another", () => {
  const weights = (seed: number) => createMicroEngine({ ...options, seed }).parameters();
  expect(weights(3)).toEqual(weights(3));
  expect(weights(4).get("head.weight")).not.toEqual(weights(3).get("head.weight"));
});

test.each([
  [{ width: 40 }, /heads 2.5/],
  [{ width: 32, heads: 4 }, /a head \(width \/ heads\) must be a multiple of 16/],
  [{ tokenizer: numberTokenizer(25) }, /vocabulary 25: the kernels need a multiple of 8/],
  [{ feedForward: 20 }, /feedForward 20/],
  [{ layers: 0 }, /layers 0/],
  [{ contextLength: 1.5 }, /contextLength 1.5/],
  [{ rotaryBase: 1 }, /rotaryBase 1/],
  [{ slots: 0 }, /0 cache slots/],
])("createMicroEngine() refuses %j", (changes, message) => {
  expect(() => createMicroEngine({ ...options, ...changes })).toThrow(RangeError);
  expect(() => createMicroEngine({ ...options, ...changes })).toThrow(message);
});

test("encode() applies the template to messages and not to text; decode() inverts it", async () => {
  const tokenizer = { ...numberTokenizer(24), applyTemplate: () => "1 2 3" };
  const engine = createMicroEngine({ ...options, tokenizer });
  expect(await engine.encode([{ role: "user", content: "9" }])).toEqual(Int32Array.of(1, 2, 3));
  expect(await engine.encode("9 8")).toEqual(Int32Array.of(9, 8));
  expect(await engine.decode(Int32Array.of(9, 8))).toBe("9 8");
});

test("logprobs() does not depend on what else is scored, and sums to 1 over the vocabulary", async () => {
  const engine = createMicroEngine(options);
  const sequences = exampleBatch(24, [[3, 8], [1, 5], [6, 9], [2, 1]]);
  const together = await engine.logprobs(sequences);
  for (const [i, sequence] of sequences.entries()) expect(await engine.logprobs([sequence])).toEqual([together[i]]);
  const every = Array.from(
    { length: 24 },
    (_, token) => ({ prompt: Int32Array.of(5, 6), continuation: Int32Array.of(token) }),
  );
  expect((await engine.logprobs(every)).reduce((sum, [logprob]) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 6);
});

test("logprobs() of an empty continuation is empty, beside others", async () => {
  const engine = createMicroEngine(options);
  const [a, b] = exampleBatch(24, [[3, 0], [2, 5]]);
  const [empty, full] = await engine.logprobs([a, b]);
  expect(empty).toEqual(new Float32Array(0));
  expect([full]).toEqual(await engine.logprobs([b]));
  expect(await engine.logprobs([a])).toEqual([empty]);
  expect((await engine.forwardBackward([a], nll)).tokens).toBe(0);
});

test("snapshot() keeps the weights of its time; the same name again replaces them", async () => {
  const engine = createMicroEngine(options);
  const batch = exampleBatch(24, [[3, 8], [1, 5]]);
  const before = await engine.logprobs(batch);
  await engine.snapshot("reference");
  await engine.forwardBackward(batch, nll);
  await engine.optimStep({ learningRate: 0.01 });
  const after = await engine.logprobs(batch);
  expect(after).not.toEqual(before);
  expect(await engine.logprobs(batch, "reference")).toEqual(before);
  await engine.snapshot("reference");
  expect(await engine.logprobs(batch, "reference")).toEqual(after);
});

test("learning from one sequence makes it probable", async () => {
  const engine = createMicroEngine(options);
  const [datum] = exampleBatch(24, [[3, 8]]).map((d): Datum => ({
    ...d,
    mask: d.mask.fill(1),
    weights: d.weights.fill(1),
  }));
  for (let step = 0; step < 60; step++) {
    await engine.forwardBackward([datum], nll);
    await engine.optimStep({ learningRate: 0.01 });
  }
  const [[sample]] = await engine.sample([datum.prompt], { maxTokens: 8, temperature: 0, seeds: [0] });
  expect(sample.tokens).toEqual(datum.continuation);
});

test("an unknown snapshot is an error that names the known ones", async () => {
  const engine = createMicroEngine(options);
  await engine.snapshot("start");
  const batch = exampleBatch(24, [[3, 8]]);
  await expect(engine.logprobs(batch, "reference")).rejects.toThrow(/no such one \(there is "start"\)/);
  const ppo: Loss = { kind: "ppo", clipLow: 0.2, clipHigh: 0.2, klCoef: 0.1, aggregation: "token-mean" };
  await expect(engine.forwardBackward(batch, ppo)).rejects.toThrow(/snapshot "reference"/);
  await engine.forwardBackward(batch, { ...ppo, klCoef: 0 });
});

test.each<[string, Partial<Datum>, Loss | Record<string, unknown>, RegExp]>([
  ["an empty prompt", { prompt: new Int32Array(0) }, nll, /datum 0: its prompt is empty/],
  ["too long a sequence", { prompt: new Int32Array(20) }, nll, /28 tokens are more than the context of 24/],
  ["a foreign token", { continuation: new Int32Array(8).fill(24) }, nll, /token 24 is outside/],
  ["a short mask", { mask: new Float32Array(7) }, nll, /its mask have 7 entries for 8 tokens/],
  ["long weights", { weights: new Float32Array(9) }, nll, /its weights have 9 entries/],
  [
    "missing logprobs",
    { logprobs: undefined },
    { kind: "ppo", clipLow: 0.2, clipHigh: 0.2, aggregation: "token-mean" },
    /no logprobs/,
  ],
  ["a missing teacherPrompt", { teacherPrompt: undefined }, {
    kind: "teacher-kl",
    teacher: "current",
    aggregation: "token-mean",
  }, /no teacherPrompt/],
  ["too long a teacherPrompt", { teacherPrompt: new Int32Array(17) }, {
    kind: "teacher-kl",
    teacher: "current",
    aggregation: "token-mean",
  }, /under its teacherPrompt/],
  [
    "a dual clip below 1",
    {},
    { kind: "ppo", clipLow: 0.2, clipHigh: 0.2, dualClip: 0.5, aggregation: "token-mean" },
    /dualClip 0.5/,
  ],
  ["a coefficient that is no number", {}, { ...nll, coefficient: NaN }, /coefficient NaN/],
])("forwardBackward() refuses %s", async (_, changes, loss, message) => {
  const engine = createMicroEngine(options);
  const [datum] = exampleBatch(24, [[3, 8]]);
  await expect(engine.forwardBackward([{ ...datum, ...changes }], loss as Loss)).rejects.toThrow(message);
});

test.each([{ learningRate: -1 }, { learningRate: NaN }, { learningRate: 1, beta1: 1 }, {
  learningRate: 1,
  epsilon: 0,
}])(
  "optimStep() refuses %j",
  async (bad) => {
    await expect(createMicroEngine(options).optimStep(bad)).rejects.toThrow(RangeError);
  },
);
