import { expect, test } from "vitest";
import type { Engine } from "../../lib/engine/engine.ts";
import type { Trajectory } from "../../lib/environment/trajectory.ts";
import { grpoMethod, type GrpoSettings, grpoUpdates } from "../../lib/method/grpo.ts";
import type { Group } from "../../lib/method/method.ts";

const SETTINGS: GrpoSettings = {
  learningRate: 1e-4,
  warmupSteps: 0,
  miniBatches: 2,
  clipLow: 0.2,
  clipHigh: 0.28,
  klCoef: 0.001,
  aggregation: "token-mean",
  maxGradNorm: 1,
  adamBetas: [0.9, 0.999],
  weightDecay: 0.01,
};

/** Only what building updates asks of an engine. */
const engine = {
  encode: () => Promise.resolve(Int32Array.of(1, 2)),
  info: { contextLength: 96 },
} as unknown as Engine;

function trajectory(reward: number, tokens = [5, 6], row = 0): Trajectory<{ row: number }> {
  const segments = tokens.length === 0
    ? []
    : [{ by: "policy" as const, text: "", tokens: Int32Array.from(tokens), logprobs: new Float32Array(tokens.length) }];
  return {
    task: { row },
    conditioning: { id: "i0", text: "" },
    exchanges: [{ prompt: [], segments }],
    reward,
    answer: null,
    turns: 1,
    counts: {},
  };
}
const group = (rewards: readonly number[], row = 0): Group<{ row: number }> => ({
  task: { row },
  conditioning: { id: "i0", text: "" },
  trajectories: rewards.map((reward) => trajectory(reward, [5, 6], row)),
});
const advantagesOf = async (
  groups: readonly Group<{ row: number }>[],
  key?: (each: Trajectory<{ row: number }>) => string,
) => {
  const updates = await grpoUpdates(engine, groups, { ...SETTINGS, miniBatches: 1 }, 0, key);
  return updates[0].batches[0].data.map(({ weights }) => weights[0]);
};

test("grpoUpdates() has Search-R1's advantages: K = 6 with one success gives 2.0412 and -0.4082", async () => {
  const advantages = await advantagesOf([group([1, 0, 0, 0, 0, 0])]);
  expect(advantages[0]).toBeCloseTo(2.0412, 4);
  for (const advantage of advantages.slice(1)) expect(advantage).toBeCloseTo(-0.4082, 4);
});

test("grpoUpdates() gives a group of equal or empty rewards no advantage, and a group of one its reward", async () => {
  expect(await advantagesOf([group([1, 1, 1]), group([0, 0, 0])])).toEqual([0, 0, 0, 0, 0, 0]);
  expect((await advantagesOf([group([1])]))[0]).toBeCloseTo(1, 5);
});

test("grpoUpdates() centres inside a group, or inside Search-R1's row number where that is asked for", async () => {
  const groups = [group([1, 1], 7), group([0, 0], 7)];
  expect(await advantagesOf(groups)).toEqual([0, 0, 0, 0]);
  const mixed = await advantagesOf(groups, ({ task }) => `${task.row}`);
  expect(mixed[0]).toBeGreaterThan(0.8);
  expect(mixed[3]).toBeLessThan(-0.8);
});

test("grpoUpdates() deals trajectories out to mini-batches, each an optimizer step with the settings", async () => {
  const updates = await grpoUpdates(engine, [group([1, 0, 0, 1, 0])], SETTINGS, 0);
  expect(updates.map(({ batches }) => batches[0].data.length)).toEqual([3, 2]);
  expect(updates[0].optim).toEqual({ learningRate: 1e-4, beta1: 0.9, beta2: 0.999, weightDecay: 0.01, maxGradNorm: 1 });
  expect(updates[0].batches[0].loss).toMatchObject({
    kind: "ppo",
    clipLow: 0.2,
    clipHigh: 0.28,
    klCoef: 0.001,
    aggregation: "token-mean",
  });
});

test("grpoUpdates() makes no update where nothing was generated", async () => {
  const empty: Group<{ row: number }> = { ...group([]), trajectories: [trajectory(0, []), trajectory(0, [])] };
  expect(await grpoUpdates(engine, [empty], SETTINGS, 0)).toEqual([]);
});

test("grpoMethod() warms up linearly from 0 over its own updates, across a restore", async () => {
  const settings = { ...SETTINGS, warmupSteps: 4 };
  const rate = async (method: ReturnType<typeof grpoMethod<{ row: number }>>) =>
    (await method.learn([group([1, 0])]))[0].optim.learningRate;
  const method = grpoMethod<{ row: number }>(engine, { id: "i0", text: "" }, settings);
  expect([await rate(method), await rate(method)]).toEqual([0, 0.25e-4]);
  const restored = grpoMethod<{ row: number }>(engine, { id: "i0", text: "" }, settings);
  restored.restore(JSON.parse(JSON.stringify(method.snapshot())));
  expect(await rate(restored)).toBe(0.5e-4);
});
