import { z } from "zod";
import { answerReward } from "../reward/answer_reward.ts";
import { exactMatch } from "../reward/exact_match.ts";
import { extractAnswer } from "../reward/extract_answer.ts";
import type { AnswerSource } from "../reward/extract_answer.ts";
import { formatReward, retrievedGold } from "../reward/format_reward.ts";
import { normalizeAnswer } from "../reward/normalize_answer.ts";
import { subExactMatch } from "../reward/sub_exact_match.ts";
import { taggedBlocks } from "../reward/tagged_blocks.ts";
import { tokenF1 } from "../reward/token_f1.ts";
import { checkTurnSequence } from "../reward/turn_sequence.ts";
import { leftOut, readRows } from "./case_file.ts";
import type { GoldenCase, GoldenKind } from "./golden.ts";
import { compareFunction, golden } from "./golden_function.ts";

const marks = { flaky: z.boolean().optional(), contested: z.boolean().optional() };
const row = z.discriminatedUnion("kind", [
  z.looseObject({
    kind: z.literal("pair"),
    id: z.string(),
    prediction: z.string(),
    golds: z.array(z.string()),
    ...marks,
  }),
  z.looseObject({
    kind: z.literal("solution"),
    id: z.string(),
    text: z.string(),
    golds: z.array(z.string()),
    ...marks,
  }),
]);

/** Answer scoring against verl 0.9.1, Search-R1 a14dc3a and the SQuAD and HotpotQA rules for F1 (qa_run.py). */
export const qaEm: GoldenKind = {
  name: "qa-em",
  description: "answer extraction, exact match, F1 and format reward against verl and Search-R1",
  read: (text) => readRows(row, text).map(toCase),
  compare: (row) => compareFunction({ pair, solution }, row, { relative: 1e-12, absolute: 1e-12 }),
};

function toCase(
  { id, kind, flaky, contested, golds, prediction, text, tag: _, ...expected }: z.infer<typeof row>,
): GoldenCase {
  return { id, fn: kind, args: { golds, prediction, text }, expected, ...leftOut(flaky, contested) };
}

const pair = golden<{ prediction: string; golds: readonly string[] }>(({ prediction, golds }) => {
  const em = exactMatch(prediction, golds);
  const subem = subExactMatch(prediction, golds);
  const norm_pred = normalizeAnswer(prediction);
  return {
    own: {
      norm_pred,
      norm_golds: golds.map(normalizeAnswer),
      em,
      subem,
      f1_v1: tokenF1(prediction, golds, "squad-v1"),
      f1_v2: tokenF1(prediction, golds, "squad-v2"),
      f1_hotpot: tokenF1(prediction, golds, "hotpot"),
    },
    verl: { norm_pred, em, subem },
    searchr1: { em, subem },
  };
});

const solution = golden<{ text: string; golds: readonly string[] }>(({ text, golds }) => {
  const searchR1: AnswerSource = { prompt: "", response: text, scope: "prompt-and-response", minimumAnswerTags: 2 };
  const verl: AnswerSource = { prompt: "", response: text, scope: "response", minimumAnswerTags: 1 };
  const searchR1Score = answerReward(searchR1, golds);
  const verlScore = answerReward(verl, golds, { quarteredAboveTags: 10 });
  const { isValid, reason } = checkTurnSequence(text);
  return {
    own: {
      all_answers: taggedBlocks(text, "answer"),
      searchr1_extract: extractAnswer(searchR1),
      searchr1_em: searchR1Score,
      verl_extract: extractAnswer(verl),
      verl_em: verlScore,
    },
    verl: {
      extract: extractAnswer(verl),
      score: verlScore,
      subem: answerReward(verl, golds, { match: "sub-exact" }),
      score_format01: answerReward(verl, golds, { quarteredAboveTags: 10, wrongAnswerReward: 0.1 }),
    },
    searchr1: {
      extract: extractAnswer(searchR1),
      score: searchR1Score,
      subem: answerReward(searchR1, golds, { match: "sub-exact" }),
    },
    searchr1_format_v03: {
      valid: isValid,
      reason,
      score: formatReward(text, golds),
      score_retrieval01: formatReward(text, golds, { retrievalReward: 0.1 }),
      information_blocks: taggedBlocks(text, "information"),
      retrieval_correct: retrievedGold(text, golds),
    },
  };
});
