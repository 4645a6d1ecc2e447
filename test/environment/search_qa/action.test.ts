import { expect, test } from "vitest";
import { cutTurn, parseAction } from "../../../lib/environment/search_qa/action.ts";

test.each([
  ["<search> a b </search>", { kind: "search", query: "a b" }],
  ["<think> x </think>\n<answer>\n 42 \n</answer>", { kind: "answer", answer: "42" }],
  ["<answer> a </answer> <search> b </search>", { kind: "answer", answer: "a" }],
  ["<search> a </answer>", { kind: "invalid" }],
  ["<search> a <answer> b </answer>", { kind: "answer", answer: "b" }],
  ["<SEARCH> a </SEARCH>", { kind: "invalid" }],
  ["", { kind: "invalid" }],
  ["<search></search>", { kind: "search", query: "" }],
])("parseAction(%j)", (turn, action) => {
  expect(parseAction(turn)).toEqual(action);
});

test("parseAction() is fast on hostile text", () => {
  expect(parseAction("<search>".repeat(20_000))).toEqual({ kind: "invalid" });
});

test("cutTurn() prefers the first </search>, then the first </answer>", () => {
  expect(cutTurn("a </answer> b </search> c </search>")).toBe("a </answer> b </search>");
  expect(cutTurn("a </answer> b </answer>")).toBe("a </answer>");
  expect(cutTurn("a b")).toBe("a b");
});
