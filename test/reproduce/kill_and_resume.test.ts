import { join } from "node:path";
import { expect, test } from "vitest";
import type { CellOrder } from "../../lib/recipe/cell_process.ts";
import { schedule } from "../../lib/recipe/schedule.ts";
import { recipe } from "../../recipes/inspo/recipe.ts";
import { MICRO_ARMS } from "../../recipes/inspo/arms.ts";
import {
  killTree,
  lastingContent,
  runCellScript,
  runScript,
  startCellScript,
  startScript,
  statusOf,
  temporaryFolder,
} from "./processes.ts";

/** About 20 steps with a generation after every fourth and checkpoints after 10 and 20: two seconds on an idle core. */
const ROLLOUTS = 1600;
const GENERATIONS = { evolutionInterval: 4, candidates: 3, verificationSamples: 16 };
/** Cells that the tests of this file run at once. */
const JOBS = 2;

/** The order for a cell of micro whose instructions evolve more often than the recipe's. */
async function cellOrder(arm: string, directory: string): Promise<CellOrder> {
  const { settings, ...resolved } = await recipe.scales.micro.resolve(arm, 1, { rollouts: ROLLOUTS }, {});
  const inspo = settings.inspo === null ? null : withGenerations(settings.inspo as InspoLike);
  const cell = { recipe: "inspo", scale: "micro", arm, seed: 1, ...resolved, settings: { ...settings, inspo } };
  return { cell, directory, command: "a test", options: {} };
}

type InspoLike = Record<string, unknown> & { verification: Record<string, unknown> | null };

function withGenerations(inspo: InspoLike): InspoLike {
  const { evolutionInterval, candidates, verificationSamples } = GENERATIONS;
  return {
    ...inspo,
    candidates,
    evolutionInterval: inspo.evolutionInterval === null ? null : evolutionInterval,
    verification: inspo.verification === null ? null : { ...inspo.verification, samples: verificationSamples },
  };
}

/** Kills the cell `milliseconds` after its first message of `step` or later. */
async function killAfter(order: CellOrder, step: number, milliseconds: number): Promise<void> {
  const { child, reached, ended } = startCellScript(order);
  await reached(step);
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  killTree(child);
  expect(await ended).toMatchObject({ code: null, signal: "SIGKILL" });
}

test(
  "a cell of every arm that is killed at random moments and resumed gives the bytes of an undisturbed one",
  async () => {
    const { results } = schedule(Object.keys(MICRO_ARMS), JOBS, (arm) => ({ result: compare(arm), stop: () => {} }));
    for (const { arm, kills, undisturbed, resumed, generations } of await results as Comparison[]) {
      const context = `${arm}, killed ${JSON.stringify(kills)}`;
      expect(undisturbed.journal.length, context).toBeGreaterThan(5000);
      expect(generations, context).toBeGreaterThanOrEqual(evolves(arm) ? 3 : 0);
      for (const name of Object.keys(undisturbed)) {
        expect(resumed[name] === undisturbed[name], `${context}: ${name} is the same`).toBe(true);
      }
      expect(Object.keys(undisturbed).filter((name) => name.endsWith("model.safetensors"))).toHaveLength(1);
    }
  },
  240_000,
);

function evolves(arm: string): boolean {
  const { inspo } = MICRO_ARMS[arm];
  return inspo !== null && inspo.evolutionInterval !== null;
}

interface Comparison {
  arm: string;
  /** Step and further milliseconds of every kill. */
  kills: readonly (readonly [number, number])[];
  undisturbed: Record<string, string>;
  resumed: Record<string, string>;
  generations: number;
}

async function compare(arm: string): Promise<Comparison> {
  const folder = temporaryFolder();
  const [whole, disturbed] = [join(folder, "whole"), join(folder, "disturbed")];
  await runCellScript(await cellOrder(arm, whole));
  // Before the first checkpoint with training in it, and between that and the next one.
  const kills = [[Math.floor(Math.random() * 10), 60 * Math.random()], [10, 300 * Math.random()]] as const;
  for (const [step, milliseconds] of kills) await killAfter(await cellOrder(arm, disturbed), step, milliseconds);
  expect(statusOf(disturbed)?.state).toBe("running");
  await runCellScript(await cellOrder(arm, disturbed));
  const undisturbed = await lastingContent(whole);
  const generations = undisturbed.journal.split("\n").filter((line) =>
    line.includes('"origin":"reflection"') && line.includes('"name":"instruction"')
  );
  return {
    arm,
    kills,
    undisturbed,
    resumed: await lastingContent(disturbed),
    generations: new Set(generations.map((line) => JSON.parse(line).step)).size,
  };
}

test(
  "reproduce that is killed with its cells prints the undisturbed table when the same command is given again",
  async () => {
    const folder = temporaryFolder();
    const [whole, disturbed] = [join(folder, "whole"), join(folder, "disturbed")];
    const args = (
      out: string,
    ) => ["inspo", "--arms", "inspo,search-r1-grpo", "--seeds", "1", "--rollouts", "1200", "--json", "--out", out];
    const undisturbed = await runScript("reproduce", args(whole));
    expect(undisturbed.code).toBe(0);

    const killed = startScript("reproduce", args(disturbed));
    await killed.seen(/starting/);
    await new Promise((resolve) => setTimeout(resolve, 1000 + 1000 * Math.random()));
    killTree(killed.child);
    await killed.ended;
    const resumed = await runScript("reproduce", args(disturbed));
    expect(resumed.code).toBe(0);
    expect(resumed.stdout).toBe(undisturbed.stdout);
    for (const arm of ["inspo", "search-r1-grpo"]) {
      const directory = (out: string) => join(out, `inspo/micro/${arm}@rollouts=1200/seed-1`);
      expect(await lastingContent(directory(disturbed))).toEqual(await lastingContent(directory(whole)));
    }
  },
  120_000,
);

test("the same seed gives the same journal, samples and weights; another seed does not", async () => {
  const folder = temporaryFolder();
  const directories = ["a", "b", "c"].map((name) => join(folder, name));
  for (const [index, directory] of directories.entries()) {
    const { settings, ...resolved } = await recipe.scales.micro.resolve("inspo", 1, { rollouts: 700 }, {});
    const seed = index === 2 ? 2 : 1;
    const cell = { recipe: "inspo", scale: "micro", arm: "inspo", seed, ...resolved, settings };
    await runCellScript({ cell, directory, command: `command ${index}`, options: {} });
  }
  const [a, b, c] = await Promise.all(directories.map(lastingContent));
  expect(b).toEqual(a);
  expect(c.journal).not.toBe(a.journal);
}, 60_000);
