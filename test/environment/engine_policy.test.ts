import { expect, test } from "vitest";
import { concatenate, enginePolicy, tokensOf } from "../../lib/environment/engine_policy.ts";
import { searchQaEnvironment } from "../../lib/environment/search_qa/rollout.ts";
import { createHopSearchWorld } from "../../lib/environment/hop_search/world.ts";
import { trajectoryData } from "../../lib/method/trajectory_data.ts";
import { createPolicyEngine, SHIPPED_WEIGHTS } from "../../recipes/inspo/base_policy.ts";
import { MICRO_PROTOCOL } from "../../recipes/inspo/micro_settings.ts";

async function basePolicy() {
  const engine = createPolicyEngine(1);
  await engine.loadWeights(SHIPPED_WEIGHTS);
  return engine;
}

test(
  "the policy's segments carry the engine's tokens and log-probabilities, and equal a full recomputation",
  async () => {
    const engine = await basePolicy();
    const { questions, retriever } = createHopSearchWorld(7);
    const environment = searchQaEnvironment(enginePolicy(engine), retriever, MICRO_PROTOCOL);
    const requests = questions.test.slice(0, 40).map((task, seed) => ({
      task,
      conditioning: { id: null, text: "step only" },
      seed,
    }));
    const trajectories = await environment.rollout(requests, { temperature: 1 });
    expect(trajectories.some(({ turns }) => turns >= 3)).toBe(true);
    for (const trajectory of trajectories) {
      const [datum] = await trajectoryData(engine, trajectory, 0.5);
      const [recomputed] = await engine.logprobs([datum]);
      for (const [index, mask] of datum.mask.entries()) {
        if (mask === 0) continue;
        expect(Math.abs((datum.logprobs as Float32Array)[index] - recomputed[index])).toBeLessThan(1e-5);
      }
      const own = trajectory.exchanges[0].segments.filter(({ by }) => by === "policy");
      expect(datum.mask.reduce((sum, value) => sum + value, 0)).toBe(
        own.reduce((sum, segment) => sum + tokensOf(segment).length, 0),
      );
      expect([...datum.continuation]).toEqual([...concatenate(trajectory.exchanges[0].segments.map(tokensOf))]);
      expect(datum.weights.every((weight) => weight === 0.5)).toBe(true);
    }
  },
  60_000,
);

test("a trajectory does not depend on what else is in the batch", async () => {
  const engine = await basePolicy();
  const { questions, retriever } = createHopSearchWorld(7);
  const environment = searchQaEnvironment(enginePolicy(engine), retriever, MICRO_PROTOCOL);
  const request = (index: number) => ({
    task: questions.test[index],
    conditioning: { id: null, text: "step only" },
    seed: index,
  });
  const together = await environment.rollout([0, 1, 2, 3, 4, 5].map(request), { temperature: 1 });
  const [alone] = await environment.rollout([request(4)], { temperature: 1 });
  expect(alone).toEqual(together[4]);
}, 60_000);

test("trajectoryData() recomputes log-probabilities that a cut turn lost", async () => {
  const engine = await basePolicy();
  const text = "<search> Avero river </search>";
  const tokens = await engine.encode(text);
  const prompt = [{ role: "user" as const, content: "step Question: Avero river ?" }];
  const trajectory = {
    task: null,
    conditioning: { id: null, text: "" },
    exchanges: [{ prompt, segments: [{ by: "policy" as const, text, tokens }] }],
    reward: 0,
    answer: null,
    turns: 1,
    counts: {},
  };
  const [datum] = await trajectoryData(engine, trajectory, 1);
  const [recomputed] = await engine.logprobs([{ prompt: await engine.encode(prompt), continuation: tokens }]);
  expect([...(datum.logprobs as Float32Array)]).toEqual([...recomputed]);
});

test("a full context ends the trajectory, or drops its oldest tokens, as the window says", async () => {
  const engine = await basePolicy();
  const long = Array.from({ length: 30 }, () => "please").join(" ");
  const context = { prompt: [{ role: "user" as const, content: long }], segments: [] };
  const options = { maxTokens: 2, temperature: 0, seeds: [1] };
  const [stopped] = await enginePolicy(engine, { maxTokens: 10, overflow: "stop" }).generate([context], options);
  expect(stopped).toMatchObject({ text: "", finish: "full" });
  const [cut] = await enginePolicy(engine, { maxTokens: 10, overflow: "cut-left" }).generate([context], options);
  expect(cut.tokens?.length).toBeGreaterThan(0);
});

test.each(["stop", "cut-left"] as const)(
  "a trajectory that outgrows the context (%s) ends in time and can be learned from",
  async (overflow) => {
    const engine = await basePolicy();
    await engine.snapshot("reference");
    const { questions, retriever } = createHopSearchWorld(7);
    const policy = enginePolicy(engine, { maxTokens: null, overflow });
    const environment = searchQaEnvironment(policy, retriever, { ...MICRO_PROTOCOL, maxTurnTokens: 40 });
    const text = Array.from({ length: 75 }, () => "kindly").join(" ");
    const requests = questions.test.slice(0, 20).map((task, seed) => ({
      task,
      conditioning: { id: null, text },
      seed,
    }));
    const trajectories = await environment.rollout(requests, { temperature: 1 });
    if (overflow === "stop") expect(trajectories.some(({ counts }) => counts.finished === 0)).toBe(true);
    const data = (await Promise.all(trajectories.map((each) => trajectoryData(engine, each, 1)))).flat();
    for (const { prompt, continuation, mask, weights, logprobs } of data) {
      expect(prompt.length + continuation.length).toBeLessThanOrEqual(96);
      expect([mask.length, weights.length, logprobs?.length]).toEqual(Array(3).fill(continuation.length));
      if (overflow === "stop" && continuation.length > 0) expect(mask.at(-1)).toBe(1);
    }
    const batch = data.filter(({ mask }) => mask.some((value) => value > 0));
    const loss = { kind: "ppo", clipLow: 0.2, clipHigh: 0.2, klCoef: 0.01, aggregation: "token-mean" } as const;
    await engine.forwardBackward(batch, loss);
    await engine.optimStep({ learningRate: 1e-4 });
  },
  60_000,
);

test("shorten() leaves a text that fits as it is and cuts another at a token", async () => {
  const policy = enginePolicy(await basePolicy());
  expect(await policy.shorten("  please   carefully ", 2)).toBe("  please   carefully ");
  expect(await policy.shorten("please carefully now", 2)).toBe("please carefully");
});

test("tokensOf() refuses a segment of a policy without tokenizer", () => {
  expect(() => tokensOf({ by: "policy", text: "x" })).toThrow(/without tokenizer/);
});
