import { expect, test } from "vitest";
import type { Conditioning, Trajectory } from "../../../lib/environment/trajectory.ts";
import { inspoMethod, type InspoSetup } from "../../../lib/method/inspo/method.ts";
import type { InspoSettings } from "../../../lib/method/inspo/settings.ts";
import type { Group, Progress } from "../../../lib/method/method.ts";
import { type Candidate, type Reflector, ReflectorError } from "../../../lib/reflector/reflector.ts";

interface Task {
  id: string;
}
const TASKS: Task[] = Array.from({ length: 10 }, (_, index) => ({ id: `t${index}` }));
const SETTINGS: InspoSettings = {
  populationSize: 4,
  samplingTemperature: 0.1,
  weightRate: 0.5,
  evolutionInterval: 2,
  candidates: 3,
  failuresPerReflection: 4,
  bufferCapacity: 8,
  parents: "top-1",
  verification: { samples: 5, temperature: 1, threshold: "survivor-weight" },
};

/** A policy whose reward is a fixed number for each instruction: the better, the earlier in the alphabet. */
const rewardOf = (text: string) => text.startsWith("bad") ? 0 : text.startsWith("good") ? 1 : 0.5;

function trajectory(task: Task, conditioning: Conditioning): Trajectory<Task> {
  return { task, conditioning, exchanges: [], reward: rewardOf(conditioning.text), answer: null, turns: 1, counts: {} };
}

function reflectorOf(
  reply: (call: number, parents: readonly string[]) => Candidate[] | Error,
): Reflector & { requests: Parameters<Reflector["reflect"]>[0][] } {
  const requests: Parameters<Reflector["reflect"]>[0][] = [];
  return {
    name: "scripted",
    requests,
    reflect: (request) => {
      requests.push(request);
      const answer = reply(requests.length - 1, request.parents);
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve({
        candidates: answer,
        calls: 1,
        usage: { inputTokens: 10, outputTokens: 5, costUsd: null },
      });
    },
  };
}

const candidate = (instruction: string): Candidate => ({ instruction, diagnosis: "d" });

function setUp(reflector: Reflector, settings: Partial<InspoSettings> = {}, budget = 1000) {
  const setup: InspoSetup<Task> = {
    seed: 1,
    training: null,
    seedInstruction: "seed",
    settings: { ...SETTINGS, ...settings },
    reflector,
    verificationTasks: TASKS,
    describeFailure: ({ task, conditioning }) => ({
      instruction: conditioning.text,
      question: task.id,
      goldAnswers: [],
      transcript: "",
      answer: null,
      queries: [],
      observations: [],
    }),
    constraints: ["be brief"],
    checkInstruction: (text) => text === "" ? { ok: false, reason: "it is empty" } : { ok: true, text },
    instructionKey: (text) => text,
  };
  const method = inspoMethod(setup);
  const events: { name: string; data: Record<string, unknown> }[] = [];
  let rollouts = 0;
  const evolve = async (step: number, groups: readonly Group<Task>[] = []) => {
    const progress: Progress<Task> = {
      step,
      get rollouts() {
        return rollouts;
      },
      budget,
      groups,
      affords: (more) => rollouts + more <= budget,
      rollout: (requests) => {
        rollouts += requests.length;
        return Promise.resolve(requests.map(({ task, conditioning }) => trajectory(task, conditioning)));
      },
      record: (name, data) => events.push({ name, data }),
    };
    await method.evolve(progress);
  };
  const step = (number: number) => {
    const groups = TASKS.slice(0, 2).map((task, index): Group<Task> => {
      const conditioning = method.condition(task, number - 1, index);
      return {
        task,
        conditioning,
        trajectories: Array.from({ length: 4 }, () => ({ ...trajectory(task, conditioning), reward: 0 })),
      };
    });
    return evolve(number, groups);
  };
  const population = () =>
    (method.snapshot() as { population: { id: string; text: string; weight: number }[] }).population;
  return {
    method,
    events,
    evolve,
    step,
    population,
    rollouts: () => rollouts,
    named: (name: string) => events.filter((event) => event.name === name).map(({ data }) => data),
  };
}

const initial = [candidate("okay a"), candidate("okay b"), candidate("okay c")];

test("inspoMethod() starts with the seed and the reflector's variants, verified and charged", async () => {
  const { evolve, population, rollouts } = setUp(reflectorOf(() => initial));
  await evolve(0);
  expect(population().map(({ id, text, weight }) => [id, text, weight])).toEqual([
    ["i0", "seed", 0.5],
    ["i1", "okay a", 0.5],
    ["i2", "okay b", 0.5],
    ["i3", "okay c", 0.5],
  ]);
  expect(rollouts()).toBe(20);
});

test("inspoMethod() halves, reflects on 4 failures of the top instruction, verifies and merges the best", async () => {
  const reflector = reflectorOf((call) =>
    call === 0 ? initial : [candidate("bad"), candidate("good"), candidate("okay d")]
  );
  const { method, evolve, step, population, named, rollouts } = setUp(reflector);
  await evolve(0);
  await step(1);
  await step(2);
  expect(reflector.requests[1].parents.length).toBe(1);
  expect(reflector.requests[1].failures.length).toBeLessThanOrEqual(4);
  expect(reflector.requests[1].failures.length).toBeGreaterThan(0);
  expect(reflector.requests[1].constraints).toEqual(["be brief"]);
  expect(population().length).toBe(4);
  expect(population().map(({ text }) => text)).toContain("good");
  expect(population().map(({ text }) => text)).not.toContain("bad");
  expect(method.evaluationConditioning().text).toBe("good");
  expect(named("verification").length).toBe(4 + 3);
  expect(rollouts()).toBe(35);
  expect(named("instruction").filter(({ accepted }) => accepted === false).map(({ text }) => text)).toEqual(["bad"]);
  expect(method.metrics()).toMatchObject({ population: 4, optimizer_calls: 2 });
});

test.each([
  ["times out", new ReflectorError("no reply in 60 s", "timeout"), "reflection-failed"],
  ["answers nonsense", new ReflectorError("no JSON in the reply", "unreadable"), "reflection-failed"],
  ["proposes nothing", [], "reflection"],
  ["proposes an empty instruction", [candidate("")], "candidate-refused"],
  ["repeats the population", [candidate("okay a"), candidate("seed"), candidate("okay a")], "candidate-refused"],
])("inspoMethod() keeps its population where the reflector %s", async (_what, reply, event) => {
  const { evolve, step, population, named } = setUp(reflectorOf((call) => call === 0 ? initial : reply));
  await evolve(0);
  const before = population().map(({ id }) => id);
  await step(1);
  await step(2);
  expect(named(event).length).toBeGreaterThan(0);
  const after = population().map(({ id }) => id);
  if (event !== "candidate-refused" || (reply as Candidate[]).length === 1) expect(after).toEqual(before);
  expect(after.length).toBeGreaterThan(0);
});

test("inspoMethod() counts the calls of a reflection that failed", async () => {
  const failing = new ReflectorError("no JSON", "unreadable", { calls: 2 });
  const { method, evolve, step } = setUp(reflectorOf((call) => call === 0 ? initial : failing));
  await evolve(0);
  await step(1);
  await step(2);
  expect(method.metrics()).toMatchObject({ optimizer_calls: 3 });
});

test("inspoMethod() does not take back in an instruction that is dropped at the same step", async () => {
  const again = [candidate("seed"), candidate("okay a"), candidate("okay b"), candidate("okay c")];
  const { evolve, step, population, named } = setUp(reflectorOf((call) => call === 0 ? initial : again));
  await evolve(0);
  await step(1);
  await step(2);
  expect(population().length).toBe(4);
  expect(named("candidate-refused").length).toBe(4);
});

test("inspoMethod() says why a verified instruction did not join", async () => {
  const many = [candidate("good a"), candidate("good b"), candidate("good c"), candidate("bad")];
  const { evolve, step, named } = setUp(reflectorOf((call) => call === 0 ? initial : many), { candidates: 4 });
  await evolve(0);
  await step(1);
  await step(2);
  const reasons = named("instruction").slice(4).map(({ text, reason }) => [text, reason]);
  expect(reasons).toEqual([["good a", null], ["good b", null], ["good c", "no free place"], [
    "bad",
    "below the worst survivor",
  ]]);
});

test("inspoMethod() lets a programming error through", async () => {
  const { evolve } = setUp(reflectorOf(() => new TypeError("bug")));
  await expect(evolve(0)).rejects.toThrow(TypeError);
});

test("inspoMethod() with a population of one never reflects after the start", async () => {
  const reflector = reflectorOf(() => initial);
  const { evolve, step, population } = setUp(reflector, { populationSize: 1 });
  await evolve(0);
  for (const number of [1, 2, 3, 4]) await step(number);
  expect(population().map(({ id }) => id)).toEqual(["i0"]);
  expect(reflector.requests.length).toBe(0);
});

test("inspoMethod() makes no generation that the budget does not allow", async () => {
  const reflector = reflectorOf((call) => call === 0 ? initial : [candidate("good")]);
  const { evolve, step, rollouts, population, named } = setUp(reflector, {}, 30);
  await evolve(0);
  await step(1);
  await step(2);
  expect(rollouts()).toBe(20);
  expect(population().length).toBe(4);
  expect(reflector.requests.length).toBe(1);
  expect(named("reflection-skipped")).toEqual([{ reason: "the budget does not allow its verification" }]);
});

test("inspoMethod() without verification lets candidates in at their parent's weight, without rollouts", async () => {
  const { evolve, step, population, rollouts } = setUp(
    reflectorOf((call) => call === 0 ? initial : [candidate("bad"), candidate("good")]),
    { verification: null },
  );
  await evolve(0);
  await step(1);
  await step(2);
  expect(rollouts()).toBe(0);
  expect(population().map(({ text }) => text).slice(2)).toEqual(["bad", "good"]);
  expect(population()[2].weight).toBe(population()[0].weight);
});

test("inspoMethod() with several parents shows the reflector all survivors", async () => {
  const reflector = reflectorOf((call) => call === 0 ? initial : []);
  const { evolve, step } = setUp(reflector, { parents: "survivors" });
  await evolve(0);
  await step(1);
  await step(2);
  expect(reflector.requests[1].parents.length).toBe(2);
});

test("inspoMethod() verified against the worst survivor pays for its questions too", async () => {
  const verification = { samples: 5, temperature: 0, threshold: "worst-survivor-verified" } as const;
  const { evolve, step, rollouts, population } = setUp(
    reflectorOf((call) => call === 0 ? initial : [candidate("bad"), candidate("good")]),
    { verification },
  );
  await evolve(0);
  await step(1);
  await step(2);
  expect(rollouts()).toBe(20 + 10 + 5);
  expect(population().map(({ text }) => text)).not.toContain("bad");
});

test("inspoMethod() with a fixed population only moves weights", async () => {
  const reflector = reflectorOf(() => initial);
  const { evolve, step, population } = setUp(reflector, { evolutionInterval: null });
  await evolve(0);
  for (const number of [1, 2, 3, 4]) await step(number);
  expect(population().map(({ id }) => id)).toEqual(["i0", "i1", "i2", "i3"]);
  expect(Math.min(...population().map(({ weight }) => weight))).toBeLessThan(0.5);
  expect(reflector.requests.length).toBe(1);
});

test("restore() continues exactly from a snapshot that went through JSON", async () => {
  const reply = (call: number) => call === 0 ? initial : [candidate(`good ${call}`)];
  const whole = setUp(reflectorOf(reply));
  await whole.evolve(0);
  for (const number of [1, 2, 3, 4]) await whole.step(number);

  const first = setUp(reflectorOf(reply));
  await first.evolve(0);
  await first.step(1);
  await first.step(2);
  const second = setUp(reflectorOf((call) => reply(call + 2)));
  second.method.restore(JSON.parse(JSON.stringify(first.method.snapshot())));
  await second.step(3);
  await second.step(4);
  expect(second.method.snapshot()).toEqual(whole.method.snapshot());
});
