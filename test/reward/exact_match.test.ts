import { expect, test } from "vitest";
import { exactMatch } from "../../lib/reward/exact_match.ts";
import { subExactMatch } from "../../lib/reward/sub_exact_match.ts";
import { tokenF1 } from "../../lib/reward/token_f1.ts";
import { expectGoldenAgreement } from "../golden/agreement.ts";

test("exactMatch(), subExactMatch() and tokenF1() agree with verl, Search-R1, SQuAD and HotpotQA on all golden pairs", async () => {
  await expectGoldenAgreement("pair");
});

test("exactMatch() accepts any of the gold answers and ignores case, articles and punctuation", () => {
  expect(exactMatch("the Eiffel Tower.", ["Louvre", "eiffel tower"])).toBe(1);
  expect(exactMatch("Eiffel", ["eiffel tower"])).toBe(0);
  expect(exactMatch("x", [])).toBe(0);
});

test("subExactMatch() compares characters, so that an empty gold answer is in everything", () => {
  expect(subExactMatch("party", ["art"])).toBe(1);
  expect(subExactMatch("anything", ["the"])).toBe(1);
  expect(subExactMatch("art", ["party"])).toBe(0);
});

test("tokenF1() counts repeated words as often as both sides have them", () => {
  expect(tokenF1("b b b", ["b b c"])).toEqual({ f1: 2 / 3, precision: 2 / 3, recall: 2 / 3 });
});

test("tokenF1() differs between its variants on empty and on closed answers", () => {
  expect(tokenF1("the", ["a"], "squad-v1").f1).toBe(0);
  expect(tokenF1("the", ["a"], "squad-v2").f1).toBe(1);
  expect(tokenF1("yes it is", ["yes"], "squad-v1").f1).toBe(0.5);
  expect(tokenF1("yes it is", ["yes"], "hotpot").f1).toBe(0);
  expect(tokenF1("yes", ["yes"], "hotpot").f1).toBe(1);
});
