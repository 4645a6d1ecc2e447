import { expect, test } from "vitest";
import type { RunRecord } from "../../lib/record/read_run.ts";
import type { Metric, Scale } from "../../lib/recipe/recipe.ts";
import { gridTables } from "../../lib/recipe/grid_tables.ts";
import { lastOutcomes } from "../../lib/recipe/paired_items.ts";
import { summarize } from "../../lib/recipe/summarize.ts";

const METRIC: Metric = {
  id: "em",
  label: "EM",
  definition: "exact match",
  higherIsBetter: true,
  quantum: 0.25,
  items: 4,
  digits: 3,
  outcomes: (run) => lastOutcomes(run, "greedy"),
  isCensored: (run) => valueOf(run) < 0.5,
  ofRun: valueOf,
};
const SCALE = {
  name: "micro",
  arms: {
    ours: {
      description: "",
      published: {
        value: 38.2,
        unit: "percent",
        what: "table 1",
        where: "note",
        quality: "secondary-note",
        copiedFrom: null,
      },
    },
    theirs: { description: "" },
    other: { description: "" },
  },
  metrics: [METRIC],
  claims: [
    {
      id: "gain",
      statement: "",
      source: "abstract",
      metric: "em",
      arm: "ours",
      baseline: "theirs",
      margin: 0.02,
      published: null,
    },
    {
      id: "rest",
      statement: "",
      source: "note",
      metric: "em",
      arm: "ours",
      baseline: "other",
      margin: 0.02,
      published: null,
    },
  ],
} as unknown as Scale;

function valueOf({ journal }: RunRecord): number {
  const entry = journal.findLast((each) => each.type === "evaluation");
  return entry?.type === "evaluation" ? entry.metrics.em as number : NaN;
}

/** A run whose last of two evaluations solved these items. */
function run(arm: string, seed: number, solved: readonly string[]): RunRecord {
  const items = ["a", "b", "c", "d"];
  const evaluation = (index: number, of: readonly string[]) => ({
    v: 1 as const,
    type: "evaluation" as const,
    evaluation: index,
    step: index,
    rollouts: index,
    panel: "p",
    decoding: "greedy",
    conditioning: null,
    n: 4,
    metrics: { em: of.length / 4 },
  });
  const samples = [[0, []], [1, solved]].flatMap(([index, of]) =>
    items.map((item) => ({
      v: 1,
      evaluation: index,
      step: index,
      panel: "p",
      decoding: "greedy",
      item,
      reward: (of as string[]).includes(item) ? 1 : 0,
      answer: null,
      turns: 1,
    }))
  );
  return {
    config: { arm, seed },
    journal: [evaluation(0, []), evaluation(1, solved)],
    samples,
  } as unknown as RunRecord;
}

const summary = (seeds: readonly number[], runs: readonly RunRecord[]) =>
  summarize({ title: "t", scale: SCALE, arms: ["ours", "theirs"], seeds, runs });

test("summarize() gives mean, interval, items and seeds of each arm, and the published number once, never compared", () => {
  const { results } = summary([1, 2], [
    run("ours", 1, ["a", "b", "c"]),
    run("ours", 2, ["a", "b", "c", "d"]),
    run("theirs", 1, ["a"]),
    run("theirs", 2, ["a", "b"]),
  ]);
  const [ours, theirs] = results.rows.map(({ cells }) => cells.em);
  expect(ours).toMatchObject({ mean: 0.875, items: 4, verdict: "not-comparable", published: { value: 0.382 } });
  expect(ours.seeds).toEqual([{ seed: 1, value: 0.75 }, { seed: 2, value: 1 }]);
  expect(ours.interval?.high).toBe(1);
  expect(theirs.published).toBeNull();
  expect(results.notes.join("\n")).toContain("theirs 1 of 2");
});

test("summarize() marks an arm with a missing seed as incomplete", () => {
  const { results } = summary([1, 2], [run("ours", 1, ["a"]), run("theirs", 1, ["a"])]);
  expect(results.rows[0].cells.em).toMatchObject({ verdict: "incomplete", interval: null });
  expect(results.rows[0].cells.em.seeds[1]).toEqual({ seed: 2, value: null });
});

test("summarize() shows the claims that were run, with their source, and names the others", () => {
  const { claims } = summary([1], [run("ours", 1, ["a", "b"]), run("theirs", 1, ["a"])]);
  expect(claims.claims.map(({ id }) => id)).toEqual(["gain"]);
  expect(claims.claims[0]).toMatchObject({ contrast: "ours − theirs, EM", source: "abstract" });
  expect(claims.notes.at(-1)).toBe("Not run: rest (ours − other).");
});

test("on one seed the claim says what the shared items of the last evaluation tell, and no more", () => {
  const [claim] = summary([1], [run("ours", 1, ["a", "b", "c"]), run("theirs", 1, ["a", "d"])]).claims.claims;
  expect(claim.verdict).toBe("inconclusive");
  expect(claim.sentence).toContain("Over the 4 items of seed 1: +0.250");
  expect(claim.sentence).toContain("2 only ours, 1 only theirs, McNemar mid-p");
  const [equal] = summary([1], [run("ours", 1, ["a"]), run("theirs", 1, ["a"])]).claims.claims;
  expect(equal.sentence).toContain("no item differs");
  const two = summary([1, 2], [1, 2].flatMap((seed) => [run("ours", seed, ["a", "b"]), run("theirs", seed, ["a"])]));
  expect(two.claims.claims[0].sentence).not.toContain("Over the 4 items");
});

test("gridTables() has a row for each point of the grid, and none without a grid", () => {
  const of = (point: string, solved: readonly string[]) => {
    const runs = [run("ours", 1, solved), run("theirs", 1, ["a"])];
    return { point, summary: summary([1], runs), runs: [] };
  };
  const [table, ...others] = gridTables(SCALE, [of("rate 1", ["a", "b"]), of("rate 2", ["a"])]);
  expect(others).toEqual([]);
  expect(table.rows.map(({ setting, first, second, estimate }) => [setting, first, second, estimate])).toEqual([
    ["rate 1", 0.5, 0.25, 0.25],
    ["rate 2", 0.25, 0.25, 0],
  ]);
  expect(gridTables(SCALE, [of("", ["a"])])).toEqual([]);
});
