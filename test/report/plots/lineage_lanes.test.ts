import { expect, test } from "vitest";
import { lineageLanes } from "../../../lib/report/plots/lineage_lanes.ts";

const node = (id: string, born: number, ...parents: string[]) => ({ id, born, parents });

test("lineageLanes() gives every subtree adjacent lanes under its root", () => {
  const lanes = lineageLanes([node("a", 0), node("b", 1, "a"), node("c", 2, "b"), node("d", 3, "a"), node("e", 0)]);
  expect([...lanes.keys()]).toEqual(["a", "d", "b", "c", "e"]);
  expect([...lanes.values()]).toEqual([0, 1, 2, 3, 4]);
});

test("lineageLanes() places nodes with unknown parents and in circles", () => {
  const lanes = lineageLanes([node("a", 0, "gone"), node("b", 1, "c"), node("c", 2, "b")]);
  expect([...lanes.keys()].sort()).toEqual(["a", "b", "c"]);
  expect(new Set(lanes.values()).size).toBe(3);
});

test("lineageLanes() throws on two nodes with one id", () => {
  expect(() => lineageLanes([node("a", 0), node("a", 1)])).toThrow(RangeError);
});
