import { expect, test } from "vitest";
import { formatReward, retrievedGold } from "../../lib/reward/format_reward.ts";
import { checkTurnSequence } from "../../lib/reward/turn_sequence.ts";

const PROMPT = "<|im_start|>user\nFor example, <answer> Beijing </answer>.<|im_end|>\n<|im_start|>assistant\n";
const SEARCH = "<think>a</think><search>q</search><information>Paris is nice</information>";

// Search-R1 v0.3's table; verl has no such reward, so the golden file holds it under searchr1_format_v03.
test.each([
  ["right answer, order kept", `${SEARCH}<think>b</think><answer>Paris</answer>`, 1],
  ["right answer, order broken", "<answer>Paris</answer>", 0.8],
  ["wrong answer, order kept, gold retrieved", `${SEARCH}<think>b</think><answer>Lyon</answer>`, 0.3],
  ["wrong answer, order kept", "<think>b</think><answer>Lyon</answer>", 0.2],
  ["wrong answer, order broken", "<answer>Lyon</answer>", 0.1],
  ["no answer", SEARCH, 0],
])("formatReward() for a %s", (_, response, expected) => {
  expect(formatReward(PROMPT + response, ["Paris"], { retrievalReward: 0.1 })).toBeCloseTo(expected, 12);
});

test.each([
  ["<think>a</think> b <answer>c</answer>", "Unexpected content 'b' between tags (state: after_think)"],
  ["<think>a</think><answer>c</answer><|im_end|>", "Unexpected content in state end"],
  ["<think>a</think><search>q</search><answer>c</answer>", "Unexpected tag <answer> in state after_search"],
  ["<think>a", "Mismatch in think tags: 1 opening vs 0 closing tags"],
  ["<think>a</think>", "Incomplete sequence, ended in state after_think"],
])("checkTurnSequence(%j) says where the order breaks", (response, reason) => {
  expect(checkTurnSequence(PROMPT + response)).toEqual({ isValid: false, reason });
});

test("checkTurnSequence() reads behind the first assistant marker only", () => {
  expect(checkTurnSequence("<think>x</think><answer>y</answer>")).toEqual({
    isValid: false,
    reason: "Missing assistant marker",
  });
  expect(checkTurnSequence(`${PROMPT}\n <think>x</think>\n<answer>y</answer>\n`).isValid).toBe(true);
});

test("retrievedGold() looks into information blocks only", () => {
  expect(retrievedGold("<information>In Paris.</information>", ["paris"])).toBe(true);
  expect(retrievedGold("<think>Paris</think><information>Lyon</information>", ["paris"])).toBe(false);
});
