import { expect, test } from "vitest";
import { answerReward } from "../../lib/reward/answer_reward.ts";
import { exactMatch } from "../../lib/reward/exact_match.ts";
import { extractAnswer } from "../../lib/reward/extract_answer.ts";
import { taggedBlocks } from "../../lib/reward/tagged_blocks.ts";
import { expectGoldenAgreement } from "../golden/agreement.ts";
import { readSharedLines, testWithShared } from "../shared.ts";

const PROMPT = "For example, <answer> Beijing </answer>. Question: where?\n";

test("extractAnswer() and the rewards agree with verl and Search-R1 on all golden solutions", async () => {
  await expectGoldenAgreement("solution");
});

const ROLLOUTS = "data/qa/searchr1_rollouts_bamboogle_base.jsonl";
testWithShared(
  "exactMatch() of extractAnswer() equals the stored score of every real Search-R1 rollout, by both rules",
  [ROLLOUTS],
  () => {
    const rollouts = readSharedLines<{ golden_answers: string[]; prompt: string; response: string; em: number }>(
      ROLLOUTS,
    );
    expect(rollouts).toHaveLength(125);
    for (const { prompt, response, golden_answers, em } of rollouts) {
      for (
        const rule of [{ scope: "prompt-and-response", minimumAnswerTags: 2 }, {
          scope: "response",
          minimumAnswerTags: 1,
        }] as const
      ) {
        const answer = extractAnswer({ prompt, response, ...rule });
        expect(answer === null ? 0 : exactMatch(answer, golden_answers)).toBe(em);
      }
    }
    expect(rollouts.some(({ em }) => em === 1)).toBe(true);
  },
);

test("extractAnswer() takes the prompt's example for the answer only where scope and count allow it", () => {
  const silent = { prompt: PROMPT, response: "I do not know." };
  expect(extractAnswer({ ...silent, scope: "prompt-and-response", minimumAnswerTags: 1 })).toBe("Beijing");
  expect(extractAnswer({ ...silent, scope: "prompt-and-response", minimumAnswerTags: 2 })).toBeNull();
  expect(extractAnswer({ ...silent, scope: "response", minimumAnswerTags: 1 })).toBeNull();
});

test("extractAnswer() loses a lone answer where Search-R1's rule meets a prompt without example", () => {
  const lone = { prompt: "Question: where?\n", response: "<answer>Paris</answer>" };
  expect(extractAnswer({ ...lone, scope: "prompt-and-response", minimumAnswerTags: 2 })).toBeNull();
  expect(extractAnswer({ ...lone, scope: "response", minimumAnswerTags: 1 })).toBe("Paris");
});

test("extractAnswer() takes the last pair, also inside a retrieved passage", () => {
  const response = "<answer>Lyon</answer><information><answer>\nParis </answer></information>";
  expect(extractAnswer({ prompt: PROMPT, response, scope: "response", minimumAnswerTags: 1 })).toBe("Paris");
});

test("answerReward() divides by 4 above the limit of tags, and only right answers", () => {
  const twelve = (answer: string) =>
    ({
      prompt: "",
      response: `<answer>${answer}</answer>`.repeat(12),
      scope: "response",
      minimumAnswerTags: 1,
    }) as const;
  expect(answerReward(twelve("Paris"), ["Paris"], { quarteredAboveTags: 10 })).toBe(0.25);
  expect(answerReward(twelve("Paris"), ["Paris"], { quarteredAboveTags: 12 })).toBe(1);
  expect(answerReward(twelve("Lyon"), ["Paris"], { quarteredAboveTags: 10, wrongAnswerReward: 0.1 })).toBe(0.1);
});

test("taggedBlocks() pairs as a lazy regular expression does", () => {
  for (const text of ["<a>x</a></a><a>y", "<a><a>x</a>", "</a><a></a>", "<a> x <a> y </a> z </a>"]) {
    expect(taggedBlocks(text, "a")).toEqual([...text.matchAll(/<a>([^]*?)<\/a>/g)].map((match) => match[1].trim()));
  }
});

test("taggedBlocks() gets through a hundred thousand unclosed tags", () => {
  expect(taggedBlocks("<answer>".repeat(100_000), "answer")).toEqual([]);
});
