import { expect, test } from "vitest";
import type { Claim, Metric } from "../../lib/recipe/recipe.ts";
import { judgeClaims } from "../../lib/recipe/verdict.ts";

const metric = (patch: Partial<Metric> = {}): Metric => ({
  id: "em",
  label: "EM",
  definition: "",
  higherIsBetter: true,
  quantum: 0.005,
  items: 200,
  digits: 3,
  ofRun: () => null,
  ...patch,
});
const claim = (patch: Partial<Claim> = {}): Claim => ({
  id: "gain",
  statement: "ours is better",
  source: "",
  metric: "em",
  arm: "ours",
  baseline: "theirs",
  margin: 0.02,
  published: null,
  ...patch,
});
const values = (ours: readonly number[], theirs: readonly number[]) => () =>
  new Map([["ours", new Map(ours.map((value, index) => [index + 1, value]))], [
    "theirs",
    new Map(theirs.map((value, index) => [index + 1, value])),
  ]]);

test.each([
  ["supported", [0.95, 0.96, 0.94, 0.95, 0.96], [0.85, 0.87, 0.83, 0.86, 0.86]],
  ["contradicted", [0.85, 0.86, 0.85, 0.86, 0.85], [0.855, 0.86, 0.85, 0.855, 0.85]],
  ["contradicted", [0.75, 0.76, 0.75, 0.76, 0.75], [0.85, 0.86, 0.85, 0.86, 0.85]],
  ["inconclusive", [0.95, 0.7, 0.9, 0.8, 0.99], [0.85, 0.87, 0.83, 0.86, 0.86]],
  ["inconclusive", [0.95], [0.85]],
  ["not-run", [0.95], []],
])("judgeClaims() says %s for %j against %j", (verdict, ours, theirs) => {
  const [result] = judgeClaims([claim()], [metric()], values(ours, theirs));
  expect(result.verdict).toBe(verdict);
});

test("judgeClaims() needs the margin, not only the sign", () => {
  const tiny = values([0.861, 0.866, 0.861, 0.866, 0.861], [0.85, 0.855, 0.85, 0.855, 0.85]);
  expect(judgeClaims([claim({ margin: 0.005 })], [metric()], tiny)[0].verdict).toBe("supported");
  expect(judgeClaims([claim({ margin: 0.02 })], [metric()], tiny)[0].verdict).toBe("contradicted");
});

test("judgeClaims() does not believe a spread below the quantum: equal differences on two seeds are no certainty", () => {
  const [result] = judgeClaims([claim()], [metric({ quantum: 0.1 })], values([0.95, 0.95], [0.85, 0.85]));
  expect(result.verdict).toBe("inconclusive");
  expect(result.interval?.low).toBeLessThan(0);
});

test("judgeClaims() adjusts for the number of claims that were run (Holm)", () => {
  const data = values([0.95, 0.9, 0.94, 0.91, 0.96], [0.87, 0.88, 0.84, 0.88, 0.87]);
  const alone = judgeClaims([claim()], [metric()], data)[0];
  const among =
    judgeClaims([claim(), ...Array.from({ length: 9 }, (_, index) => claim({ id: `c${index}` }))], [metric()], data)[0];
  expect(among.adjustedP).toBeCloseTo(Math.min(1, (alone.adjustedP as number) * 10), 10);
  const withNotRun = judgeClaims([claim(), claim({ id: "other", arm: "nobody" })], [metric()], data)[0];
  expect(withNotRun.adjustedP).toBe(alone.adjustedP);
});

test("judgeClaims() turns a metric where less is better around, and says so", () => {
  const [result] = judgeClaims(
    [claim({ margin: 400 })],
    [metric({ higherIsBetter: false, quantum: 800, digits: 0, label: "rollouts" })],
    values([2400, 2400, 3200, 2400, 1600], [4800, 4000, 5600, 4800, 4000]),
  );
  expect(result).toMatchObject({ verdict: "supported", difference: 2240 });
  expect(result.sentence).toContain("theirs − ours = +2240 rollouts (fewer are better)");
});

test("judgeClaims() pairs by seed and uses the seeds that both arms have", () => {
  const valuesOf = () =>
    new Map([["ours", new Map([[1, 0.9], [2, 0.8], [9, 0.1]])], ["theirs", new Map([[2, 0.7], [1, 0.8]])]]);
  const [result] = judgeClaims([claim()], [metric()], valuesOf);
  expect(result.seeds).toEqual([1, 2]);
  expect(result.difference).toBeCloseTo(0.1, 12);
});

test("judgeClaims() refuses a claim about a metric that is not there", () => {
  expect(() => judgeClaims([claim({ metric: "f1" })], [metric()], values([1], [1]))).toThrow(/gain.*"f1"/);
});
