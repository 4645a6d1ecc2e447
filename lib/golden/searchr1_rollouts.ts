import { z } from "zod";
import { exactMatch } from "../reward/exact_match.ts";
import { extractAnswer } from "../reward/extract_answer.ts";
import { subExactMatch } from "../reward/sub_exact_match.ts";
import { tokenF1 } from "../reward/token_f1.ts";
import { readRows } from "./case_file.ts";
import type { GoldenKind } from "./golden.ts";
import { compareFunction, golden } from "./golden_function.ts";

const rollout = z.looseObject({
  id: z.string(),
  golden_answers: z.array(z.string()),
  prompt: z.string(),
  response: z.string(),
  pred: z.string().nullable(),
  em: z.number(),
  acc: z.number(),
  f1: z.number(),
});

/** Real rollouts of a published checkpoint with the scores that an independent evaluator (FlashRAG) stored beside them. */
export const searchR1Rollouts: GoldenKind = {
  name: "searchr1-rollouts",
  description: "answers and scores of real Search-R1 rollouts against the evaluator's",
  read: (text) =>
    readRows(rollout, text).map(({ id, golden_answers, prompt, response, pred, em, acc, f1 }) => ({
      id,
      fn: "score",
      args: { golds: golden_answers, prompt, response, pred },
      expected: { pred, em, acc, f1, em_two_tags: em },
    })),
  compare: (row) => compareFunction({ score }, row, { relative: 1e-12, absolute: 1e-12 }),
};

/** `em_two_tags` is by Search-R1's own rule, which must not change the score of a rollout with its prompt. */
const score = golden<{ golds: readonly string[]; prompt: string; response: string }>(({ golds, prompt, response }) => {
  const answer = extractAnswer({ prompt, response, scope: "response", minimumAnswerTags: 1 });
  const withPrompt = extractAnswer({ prompt, response, scope: "prompt-and-response", minimumAnswerTags: 2 });
  return {
    pred: answer,
    em: answer === null ? 0 : exactMatch(answer, golds),
    acc: answer === null ? 0 : subExactMatch(answer, golds),
    f1: answer === null ? 0 : tokenF1(answer, golds).f1,
    em_two_tags: withPrompt === null ? 0 : exactMatch(withPrompt, golds),
  };
});
