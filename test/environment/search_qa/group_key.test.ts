import { expect, test } from "vitest";
import { groupKeyOf } from "../../../lib/environment/search_qa/group_key.ts";
import { SEARCH_QA_PROTOCOL, SEARCH_R1_PROTOCOL } from "../../../lib/environment/search_qa/protocol.ts";
import type { Trajectory } from "../../../lib/environment/trajectory.ts";
import type { QaTask } from "../../../lib/environment/search_qa/task.ts";

function trajectory(source: string, row?: number): Trajectory<QaTask> {
  const task = { id: `${source}-${row}`, source, question: "", goldAnswers: [], row };
  return { task, conditioning: { id: source, text: "" }, exchanges: [], reward: 0, answer: null, turns: 1, counts: {} };
}

test("groupKeyOf() leaves the groups as they are by default", () => {
  expect(groupKeyOf(SEARCH_QA_PROTOCOL)).toBeUndefined();
});

test("groupKeyOf() of Search-R1 mixes equal rows of different sets, and all rows without a number", () => {
  const key = groupKeyOf(SEARCH_R1_PROTOCOL);
  expect(key?.(trajectory("nq", 7))).toBe(key?.(trajectory("hotpotqa", 7)));
  expect(key?.(trajectory("nq", 7))).not.toBe(key?.(trajectory("nq", 8)));
  expect(key?.(trajectory("nq"))).toBe(key?.(trajectory("hotpotqa")));
});
