import { expect, test } from "vitest";
import type { Datum, Engine, Loss, OptimOptions } from "../../lib/engine/engine.ts";
import type { Environment, RolloutRequest, Trajectory } from "../../lib/environment/trajectory.ts";
import { type LoopObserver, type LoopSetup, type LoopState, runLoop } from "../../lib/method/loop.ts";
import type { Method, Progress } from "../../lib/method/method.ts";
import { hashSeed } from "../../lib/random/stream.ts";

/** Everything that happened, in order, JSON-safe. */
type Call = readonly [what: string, ...details: unknown[]];

interface Options {
  budget?: number;
  evaluationInterval?: number;
  /** Rollouts of a verification, and the steps after which one is wanted. */
  verification?: { samples: number; steps: readonly number[] };
  /** Stops at the boundary of this step. */
  stopAt?: number;
}

/**
 * A loop over numbers: a task is a number, the "policy" a counter that learning raises, so that every trajectory depends
 * on all that came before.
 */
function countingLoop({ budget = 40, evaluationInterval = 16, verification, stopAt }: Options, calls: Call[]) {
  let skill = 0;
  const environment: Environment<number> = {
    rollout: (requests, decoding) => {
      calls.push(["rollout", requests.map(({ task, seed }) => [task, seed]), decoding.temperature, skill]);
      return Promise.resolve(requests.map((request) => trajectoryOf(request, skill)));
    },
  };
  const method: Method<number> = {
    condition: (task, step, group) => ({ id: `c${step}.${group}`, text: `for ${task}` }),
    learn: (groups) => {
      skill += groups.flatMap(({ trajectories }) => trajectories).reduce((sum, { reward }) => sum + reward, 1);
      return Promise.resolve([]);
    },
    evolve: async (progress) => {
      calls.push(["evolve", progress.step, progress.rollouts, progress.groups.length]);
      if (verification?.steps.includes(progress.step)) await verify(progress, verification.samples);
    },
    evaluationConditioning: () => ({ id: `skill-${skill}`, text: "" }),
    metrics: () => ({ skill }),
    snapshot: () => ({ skill }),
    restore: (state) => void ({ skill } = state as { skill: number }),
  };
  async function verify(progress: Progress<number>, samples: number): Promise<void> {
    if (!progress.affords(samples)) return progress.record("skipped", { rollouts: progress.rollouts });
    const requests = Array.from(
      { length: samples },
      (_, seed) => ({ task: 0, conditioning: { id: "v", text: "" }, seed }),
    );
    await progress.rollout(requests, 0.5);
    progress.record("verified", { rollouts: progress.rollouts });
  }
  const setup: LoopSetup<number> = {
    seed: 7,
    engine: null,
    environment,
    method,
    trainingTasks: Array.from({ length: 50 }, (_, task) => task),
    taskId: (task) => `t${task}`,
    groupsPerStep: 2,
    groupSize: 4,
    budget,
    temperature: 1,
    evaluationInterval,
    panels: [
      { name: "a", tasks: [1, 2, 3], decodings: [{ name: "T=1", temperature: 1 }, { name: "greedy", temperature: 0 }] },
      { name: "b", tasks: [4], decodings: [{ name: "greedy", temperature: 0 }] },
    ],
  };
  const observer: LoopObserver<number> = {
    step: ({ step, rollouts }, metrics) => void calls.push(["step", step, rollouts, metrics]),
    event: ({ step, rollouts }, name, data) => void calls.push(["event", step, rollouts, name, data]),
    evaluation: ({ rollouts, evaluations }, panel, decoding, { id }, trajectories) =>
      void calls.push(["evaluation", evaluations, rollouts, panel.name, decoding, id, trajectories.length]),
    boundary: (state) => {
      calls.push(["boundary", { ...state }]);
      return Promise.resolve(state.step === stopAt);
    },
  };
  return { setup, observer, method };
}

function trajectoryOf({ task, conditioning, seed }: RolloutRequest<number>, skill: number): Trajectory<number> {
  const reward = hashSeed(seed, task, skill) % 2;
  return { task, conditioning, exchanges: [], reward, answer: null, turns: 1, counts: { searches: task } };
}

async function run(options: Options): Promise<{ calls: Call[]; state: LoopState; isFinished: boolean }> {
  const calls: Call[] = [];
  const { setup, observer } = countingLoop(options, calls);
  return { calls, ...await runLoop(setup, observer) };
}

const named = (calls: readonly Call[], what: string) => calls.filter(([name]) => name === what);

/** Rollouts that the environment was asked for, by sampling temperature of training (1), verification and evaluation. */
function rolloutsMade(calls: readonly Call[]): { charged: number; free: number } {
  let charged = 0;
  let free = 0;
  const panels = new Set([3, 1]);
  for (const [, requests, temperature] of named(calls, "rollout") as [string, unknown[], number][]) {
    const isEvaluation = temperature !== 0.5 && panels.has(requests.length);
    if (isEvaluation) free += requests.length;
    else charged += requests.length;
  }
  return { charged, free };
}

test.each([0, 1, 7, 8, 9, 15, 16, 40, 41, 47])(
  "runLoop() makes as many whole steps as a budget of %i allows, and no rollout more",
  async (budget) => {
    const { calls, state, isFinished } = await run({ budget });
    expect(isFinished).toBe(true);
    expect(state.step).toBe(Math.floor(budget / 8));
    expect(rolloutsMade(calls).charged).toBe(state.rollouts);
    expect(state.rollouts).toBeLessThanOrEqual(budget);
  },
);

test("runLoop() charges verification to the budget, and steps end where it leaves too little", async () => {
  const verification = { samples: 12, steps: [0, 2] };
  const { calls, state } = await run({ budget: 47, verification });
  expect(named(calls, "event").map(([, step, rollouts, name]) => [step, rollouts, name])).toEqual([
    [0, 12, "verified"],
    [2, 40, "verified"],
  ]);
  expect(state).toMatchObject({ step: 2, rollouts: 40 });
  expect(rolloutsMade(calls).charged).toBe(40);
});

test("runLoop() refuses a verification that the budget does not afford, and tells the method so before", async () => {
  const { calls, state } = await run({ budget: 20, verification: { samples: 5, steps: [2] } });
  expect(named(calls, "event")).toEqual([["event", 2, 16, "skipped", { rollouts: 16 }]]);
  expect(state.rollouts).toBe(16);

  const { setup, observer } = countingLoop({ budget: 20 }, []);
  setup.method.evolve = async (progress) => {
    await progress.rollout(
      Array.from({ length: 21 }, (_, seed) => ({ task: 0, conditioning: { id: null, text: "" }, seed })),
      1,
    );
  };
  await expect(runLoop(setup, observer)).rejects.toThrow(RangeError);
  await expect(runLoop(setup, observer)).rejects.toThrow("Cannot make 21 more rollouts: 0 of 20 are used");
});

test("runLoop() does not charge evaluation", async () => {
  const { calls, state } = await run({ budget: 16, evaluationInterval: 1 });
  expect(rolloutsMade(calls)).toEqual({ charged: 16, free: 3 * (3 + 3 + 1) });
  expect(state.rollouts).toBe(16);
});

test.each([
  ["on the schedule", { budget: 32, evaluationInterval: 16 }, [0, 16, 32]],
  ["behind the last point of the schedule", { budget: 40, evaluationInterval: 16 }, [0, 16, 32, 40]],
  ["before the first point", { budget: 8, evaluationInterval: 16 }, [0, 8]],
  ["without a step", { budget: 7, evaluationInterval: 16 }, [0]],
  ["at every step", { budget: 24, evaluationInterval: 3 }, [0, 8, 16, 24]],
  [
    "after a verification that jumped over points",
    { budget: 60, evaluationInterval: 10, verification: { samples: 33, steps: [1] } },
    [0, 41, 57],
  ],
  [
    "where verification before the first step takes the whole budget",
    { budget: 40, evaluationInterval: 16, verification: { samples: 40, steps: [0] } },
    [0, 40],
  ],
])("runLoop() evaluates every panel and decoding once a point, the end included: %s", async (_, options, points) => {
  const { calls, state } = await run(options);
  const evaluations = named(calls, "evaluation");
  expect(evaluations.map(([, , rollouts, panel, decoding]) => [rollouts, panel, decoding])).toEqual(
    points.flatMap((rollouts) => [[rollouts, "a", "T=1"], [rollouts, "a", "greedy"], [rollouts, "b", "greedy"]]),
  );
  expect(evaluations.map(([, number]) => number)).toEqual(evaluations.map((_, index) => index));
  expect(state.evaluations).toBe(evaluations.length);
  expect(evaluations.map(([, , , , , , n]) => n)).toEqual(points.flatMap(() => [3, 3, 1]));
});

test("runLoop() draws other tasks and seeds in every step, and the same ones for the same cell seed", async () => {
  const training = ({ calls }: { calls: Call[] }) =>
    (named(calls, "rollout") as [string, [number, number][], number][]).filter(([, requests]) => requests.length === 8);
  const first = training(await run({}));
  expect(training(await run({}))).toEqual(first);
  const seeds = first.flatMap(([, requests]) => requests.map(([, seed]) => seed));
  expect(new Set(seeds).size).toBe(seeds.length);
  expect(new Set(first.map(([, requests]) => JSON.stringify(requests.map(([task]) => task)))).size).toBeGreaterThan(1);
  // A group shares its task.
  expect(first.every(([, requests]) => new Set(requests.slice(0, 4).map(([task]) => task)).size === 1)).toBe(true);
});

test.each([
  ["nothing else", {}],
  ["verification", { budget: 90, verification: { samples: 5, steps: [0, 1, 3, 4, 6] } }],
  ["evaluation at every step", { evaluationInterval: 1 }],
])("runLoop() stopped at any boundary and resumed makes the calls of an undisturbed run: %s", async (_, options) => {
  const whole = await run(options);
  for (let stopAt = 0; stopAt <= whole.state.step; stopAt++) {
    const calls: Call[] = [];
    const first = countingLoop({ ...options, stopAt }, calls);
    const stopped = await runLoop(first.setup, first.observer);
    expect(stopped.isFinished).toBe(false);
    expect(stopped.state.step).toBe(stopAt);
    // As a checkpoint keeps them: through JSON, into objects that know nothing else.
    const saved = JSON.parse(JSON.stringify({ loop: stopped.state, method: first.method.snapshot() }));
    const second = countingLoop(options, calls);
    second.method.restore(saved.method);
    const resumed = await runLoop(second.setup, second.observer, saved.loop);
    expect(resumed).toEqual({ state: whole.state, isFinished: true });
    expect(calls).toEqual(whole.calls);
  }
});

test("runLoop() does not change the state that it goes on from", async () => {
  const { setup, observer } = countingLoop({}, []);
  const from: LoopState = { step: 2, rollouts: 16, evaluations: 6, nextEvaluation: 32, evaluatedAt: 16 };
  const kept = { ...from };
  await runLoop(setup, observer, from);
  expect(from).toEqual(kept);
});

test("runLoop() gives the engine all batches of an update, then its step, and journals the mean of their metrics", async () => {
  const calls: Call[] = [];
  const { setup, observer } = countingLoop({ budget: 8 }, calls);
  const told: unknown[] = [];
  const engine = {
    forwardBackward: (data: readonly Datum[], loss: Loss) => {
      told.push(["forwardBackward", data.length, loss.kind]);
      return Promise.resolve({ loss: told.length });
    },
    optimStep: ({ learningRate }: OptimOptions) => {
      told.push(["optimStep", learningRate]);
      return Promise.resolve({ gradNorm: 3 });
    },
  } as unknown as Engine;
  const loss: Loss = { kind: "weighted-nll", aggregation: "token-mean" };
  const optim = (learningRate: number): OptimOptions => ({
    learningRate,
    beta1: 0.9,
    beta2: 0.95,
    weightDecay: 0,
    maxGradNorm: 1,
  });
  setup.method.learn = () =>
    Promise.resolve([
      { batches: [{ data: [], loss }, { data: [], loss }], optim: optim(0.1) },
      { batches: [{ data: [], loss }], optim: optim(0.2) },
    ]);
  await runLoop({ ...setup, engine }, observer);
  expect(told).toEqual([
    ["forwardBackward", 0, "weighted-nll"],
    ["forwardBackward", 0, "weighted-nll"],
    ["optimStep", 0.1],
    ["forwardBackward", 0, "weighted-nll"],
    ["optimStep", 0.2],
  ]);
  expect(named(calls, "step")[0][3]).toMatchObject({ loss: (1 + 2 + 4) / 3, gradNorm: 3, turns: 1, skill: 0 });
});
