import { describe, expect, test } from "vitest";
import type { Sample, SampleOptions } from "../../../lib/engine/engine.ts";
import { createMicroEngine, type MicroEngine } from "../../../lib/engine/micro/micro_engine.ts";
import { exampleBatch } from "./example_batch.ts";
import { numberTokenizer } from "./number_tokenizer.ts";

const prompts = exampleBatch(24, [[3, 1], [9, 1], [1, 1], [5, 1], [9, 1], [2, 1]]).map(({ prompt }) => prompt);
prompts.push(prompts[1].slice(), prompts[1]);
const options: SampleOptions = { maxTokens: 12, temperature: 1, seeds: prompts.map((_, i) => 100 + i) };

test("sample() does not depend on what else is in the batch: bitwise", async () => {
  const together = await makeEngine().sample(prompts, options);
  for (const [i, prompt] of prompts.entries()) {
    const alone = await makeEngine().sample([prompt], { ...options, seeds: [options.seeds[i]] });
    expect(alone[0]).toEqual(together[i]);
  }
  const order = prompts.map((_, i) => i).reverse();
  const reversed = await makeEngine().sample(order.map((i) => prompts[i]), {
    ...options,
    seeds: order.map((i) => options.seeds[i]),
  });
  expect(reversed.reverse()).toEqual(together);
});

test("sample() with more prompts than slots gives the same samples", async () => {
  const expected = await makeEngine().sample(prompts, { ...options, n: 3 });
  for (const slots of [1, 4, 7]) {
    expect(await makeEngine(slots).sample(prompts, { ...options, n: 3 })).toEqual(expected);
  }
});

test("sample() draws n different samples, and others under another seed", async () => {
  const engine = makeEngine();
  const [samples] = await engine.sample(prompts.slice(0, 1), { ...options, n: 8, seeds: [1] });
  expect(new Set(samples.map(({ tokens }) => tokens.join())).size).toBe(8);
  const [others] = await engine.sample(prompts.slice(0, 1), { ...options, n: 8, seeds: [2] });
  expect(others).not.toEqual(samples);
});

test.each([1, 0.7, 0])(
  "sample() reports log-probabilities that logprobs() computes again, temperature %f",
  async (temperature) => {
    const engine = makeEngine();
    const samples = await engine.sample(prompts, { ...options, temperature });
    const again = await engine.logprobs(prompts.map((prompt, i) => ({ prompt, continuation: samples[i][0].tokens })));
    for (const [i, [{ logprobs }]] of samples.entries()) {
      if (temperature === 0.7) expect(again[i]).not.toEqual(logprobs);
      else expect(again[i]).toEqual(logprobs);
    }
  },
);

test("sample() of a context that goes on continues it, with the same bits as from scratch", async () => {
  const engine = makeEngine();
  let contexts = prompts.map((prompt) => prompt);
  for (let turn = 0; turn < 3; turn++) {
    const turnOptions = { ...options, maxTokens: 4, seeds: options.seeds.map((seed) => seed + turn) };
    const samples = await engine.sample(contexts, turnOptions);
    expect(await makeEngine().sample(contexts, turnOptions)).toEqual(samples);
    contexts = contexts.map((context, i) => Int32Array.of(...context, ...samples[i][0].tokens, 7, turn));
  }
});

test("sample() after an update or a load uses the new weights, not the old keys and values", async () => {
  const engine = makeEngine();
  await engine.sample(prompts, options);
  await engine.forwardBackward(exampleBatch(24, [[3, 8], [2, 4]]), { kind: "weighted-nll", aggregation: "token-mean" });
  await engine.optimStep({ learningRate: 0.05 });
  const samples = await engine.sample(prompts, options);
  const scored = await engine.logprobs(prompts.map((prompt, i) => ({ prompt, continuation: samples[i][0].tokens })));
  expect(scored).toEqual(samples.map(([{ logprobs }]) => logprobs));
});

test("sample() at temperature 1 draws tokens as often as the model says", async () => {
  const engine = makeEngine();
  const [prompt] = prompts;
  const count = 4000;
  const [samples] = await engine.sample([prompt], { n: count, maxTokens: 1, temperature: 1, seeds: [5] });
  const vocabulary = Array.from({ length: 24 }, (_, token) => ({ prompt, continuation: Int32Array.of(token) }));
  const expected = (await engine.logprobs(vocabulary)).map(([logprob]) => Math.exp(logprob));
  const chi = expected.reduce((sum, p, token) => {
    const observed = samples.filter(({ tokens }) => tokens[0] === token).length;
    return sum + (observed - count * p) ** 2 / (count * p);
  }, 0);
  expect(chi).toBeLessThan(49.7); // 99.9 % quantile, 23 degrees of freedom
});

test("sample() at temperature 0 takes the most probable token", async () => {
  const engine = makeEngine();
  const [[greedy]] = await engine.sample([prompts[0]], { ...options, maxTokens: 1, temperature: 0, seeds: [1] });
  const vocabulary = Array.from(
    { length: 24 },
    (_, token) => ({ prompt: prompts[0], continuation: Int32Array.of(token) }),
  );
  const logprobs = (await engine.logprobs(vocabulary)).map(([logprob]) => logprob);
  expect(greedy.tokens[0]).toBe(logprobs.indexOf(Math.max(...logprobs)));
  expect(greedy.logprobs[0]).toBe(Math.max(...logprobs));
});

test("sample() with topP draws within the nucleus and reports its renormalised log-probabilities", async () => {
  const engine = makeEngine();
  const [prompt] = prompts;
  const vocabulary = Array.from({ length: 24 }, (_, token) => ({ prompt, continuation: Int32Array.of(token) }));
  const probabilities = (await engine.logprobs(vocabulary)).map(([logprob]) => Math.exp(logprob));
  const descending = probabilities.map((_, token) => token).sort((a, b) => probabilities[b] - probabilities[a]);
  const nucleus = descending.slice(0, 3);
  const mass = nucleus.reduce((sum, token) => sum + probabilities[token], 0);
  const [samples] = await engine.sample([prompt], {
    n: 200,
    maxTokens: 1,
    temperature: 1,
    topP: mass - 1e-4,
    seeds: [5],
  });
  expect(new Set(samples.map(({ tokens }) => tokens[0]))).toEqual(new Set(nucleus));
  for (const { tokens, logprobs } of samples) {
    expect(logprobs[0]).toBeCloseTo(Math.log(probabilities[tokens[0]] / mass), 5);
  }
});

describe("the end of a sample", () => {
  test("a stop text ends it and is kept", async () => {
    const free = await makeEngine().sample(prompts, options);
    const stop = String(free[1][0].tokens[4]);
    const stopped = await makeEngine().sample(prompts, { ...options, stop: [stop] });
    for (const [i, [sample]] of stopped.entries()) {
      expect(sample).toEqual(cutBehind(free[i][0], (text) => text.endsWith(stop)));
    }
    expect(stopped.some(([{ finish }]) => finish === "stop")).toBe(true);
  });

  test("a stop text of several tokens ends it too", async () => {
    const free = await makeEngine().sample(prompts, options);
    const stop = free[1][0].tokens.slice(3, 5).join(" ");
    const stopped = await makeEngine().sample(prompts, { ...options, stop: [stop] });
    for (const [i, [sample]] of stopped.entries()) {
      expect(sample).toEqual(cutBehind(free[i][0], (text) => text.endsWith(stop)));
    }
    expect(stopped[1][0].finish).toBe("stop");
  });

  test("maxTokens ends it", async () => {
    const [[{ tokens, finish }]] = await makeEngine().sample([prompts[0]], { ...options, maxTokens: 5, seeds: [1] });
    expect([tokens.length, finish]).toEqual([5, "length"]);
  });

  test("the end of the context ends it", async () => {
    const prompt = new Int32Array(30).fill(4);
    const [[{ tokens, logprobs, finish }]] = await makeEngine().sample([prompt], { ...options, seeds: [1] });
    expect([tokens.length, logprobs.length, finish]).toEqual([10, 10, "length"]);
  });
});

test.each([
  ["an empty prompt", [new Int32Array(0)], {}, /prompt 0: it is empty/],
  ["a prompt that fills the context", [new Int32Array(40)], {}, /leave no room in the context of 40/],
  ["a token outside the vocabulary", [Int32Array.of(3, 24)], {}, /token 24 is outside the vocabulary of 24/],
  ["a negative token", [Int32Array.of(-1)], {}, /token -1 is outside/],
  ["too few seeds", [Int32Array.of(1)], { seeds: [] }, /0 seeds for 1 prompts/],
  ["no tokens to write", [Int32Array.of(1)], { maxTokens: 0 }, /maxTokens 0/],
  ["a negative temperature", [Int32Array.of(1)], { temperature: -1 }, /temperature -1/],
  ["a temperature that is not a number", [Int32Array.of(1)], { temperature: NaN }, /temperature NaN/],
  ["an empty nucleus", [Int32Array.of(1)], { topP: 0 }, /topP 0/],
  ["half a sample", [Int32Array.of(1)], { n: 0.5 }, /n 0.5/],
  ["an empty stop text", [Int32Array.of(1)], { stop: [""] }, /empty text/],
])("sample() refuses %s", async (_, bad, changes, message) => {
  const call = makeEngine().sample(bad, { maxTokens: 1, temperature: 1, seeds: [1], ...changes });
  await expect(call).rejects.toThrow(RangeError);
  await expect(call).rejects.toThrow(message);
});

test("sample() of nothing is nothing", async () => {
  expect(await makeEngine().sample([], { ...options, seeds: [] })).toEqual([]);
});

function makeEngine(slots = 32): MicroEngine {
  return createMicroEngine({ tokenizer: numberTokenizer(24), width: 32, contextLength: 40, seed: 11, slots });
}

/** What is left of a free sample when it ends behind the first text that `isEnd` holds for. */
function cutBehind(sample: Sample, isEnd: (text: string) => boolean): Sample {
  for (let length = 1; length <= sample.tokens.length; length++) {
    if (!isEnd(sample.tokens.slice(0, length).join(" "))) continue;
    return { tokens: sample.tokens.slice(0, length), logprobs: sample.logprobs.slice(0, length), finish: "stop" };
  }
  return sample;
}
