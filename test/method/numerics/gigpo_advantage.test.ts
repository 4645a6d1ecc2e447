import { describe, expect, test } from "vitest";
import { gigpoAdvantages, stepGroups } from "../../../lib/method/numerics/gigpo_advantage.ts";
import { sequenceRatio } from "../../../lib/method/numerics/sequence_ratio.ts";
import { expectGoldenAgreement } from "../../golden/agreement.ts";

test("gigpoAdvantages() agrees with verl-agent on the golden rows", () => expectGoldenAgreement("gigpo"));

test("gigpoAdvantages() gives a step alone with its observation the episode advantage only", () => {
  const steps = {
    episodeRewards: [1, 1, 0],
    returns: [3, 1, 0],
    tasks: ["q", "q", "q"],
    anchors: ["room", "desk", "room"],
  };
  const { advantages, episodeAdvantages, stepAdvantages } = gigpoAdvantages(steps, { stepWeight: 0.5 });
  expect(stepAdvantages[1]).toBe(0);
  expect(advantages[1]).toBe(episodeAdvantages[1]);
  expect(advantages[0]).toBeCloseTo(episodeAdvantages[0] + 0.5 * stepAdvantages[0], 12);
  expect(stepAdvantages[0]).toBeGreaterThan(0);
});

test("stepGroups() keeps tasks apart and joins similar observations on demand", () => {
  const anchors = ["a lamp 1", "a lamp 2", "a lamp 1"];
  expect(stepGroups(anchors, ["q", "q", "r"])).toEqual([0, 1, 2]);
  expect(stepGroups(anchors, ["q", "q", "q"])).toEqual([0, 1, 0]);
  expect(stepGroups(anchors, ["q", "q", "q"], 0.8)).toEqual([0, 0, 0]);
});

describe("sequenceRatio()", () => {
  // CPython 3.11.7, difflib.SequenceMatcher(None, a, b).ratio()
  test.each([
    ["", "", 1],
    ["", "a", 0],
    ["abcd", "bcde", 0.75],
    ["tide", "diet", 0.25],
    ["diet", "tide", 0.5],
    ["private Thread currentThread;", "private volatile Thread currentThread;", 0.8656716417910447],
    ["You are in the middle of a room.", "You are in the midle of a rooom!", 0.9375],
    ["naïve 🙂 text", "naive 🙂🙂 text", 0.88],
    ["x" + "ab".repeat(150), "ab".repeat(150), 0],
    ["ab".repeat(150) + "y", "ab".repeat(150) + "y", 1],
  ])("of %j and %j is CPython's", (a, b, expected) => expect(sequenceRatio(a, b)).toBeCloseTo(expected, 12));
});
