import { type RandomStream, randomStream, shuffled } from "../../random/stream.ts";
import type { QaTask } from "../search_qa/task.ts";
import type { Encyclopaedia } from "./encyclopaedia.ts";
import { ENTITIES, RELATIONS } from "./vocabulary.ts";

/** Share of questions that need 1, 2 and 3 hops. */
export const HOP_SHARES: readonly number[] = [0.3, 0.4, 0.3];

/** Sizes of the disjoint splits. */
export const SPLIT_SIZES = { train: 400, verification: 100, test: 200 } as const;

/** Questions of one encyclopaedia in disjoint splits, each with the same mix of hops. */
export type QuestionSplits = Record<keyof typeof SPLIT_SIZES, QaTask[]>;

/**
 * The questions of a seed. Every split draws each number of hops separately: there are only 288 one-hop questions,
 * and drawing from one pot would leave the last split short of them.
 */
export function createQuestions(encyclopaedia: Encyclopaedia, seed: number): QuestionSplits {
  const stream = randomStream(seed, "questions");
  const seen = new Set<string>();
  const split = (size: number) =>
    shuffled(
      HOP_SHARES.flatMap((share, index) =>
        Array.from({ length: Math.round(size * share) }, () => unseenQuestion(encyclopaedia, index + 1, seen, stream))
      ),
      stream,
    );
  return {
    train: split(SPLIT_SIZES.train),
    verification: split(SPLIT_SIZES.verification),
    test: split(SPLIT_SIZES.test),
  };
}

/** As many different relations as the question has hops. */
export function drawRelations(hops: number, stream: RandomStream): string[] {
  return shuffled(RELATIONS, stream).slice(0, hops);
}

/** A number of hops with the probabilities of {@link HOP_SHARES}. */
export function drawHops(stream: RandomStream): number {
  const u = stream.next();
  return u < HOP_SHARES[0] ? 1 : u < HOP_SHARES[0] + HOP_SHARES[1] ? 2 : 3;
}

function unseenQuestion(encyclopaedia: Encyclopaedia, hops: number, seen: Set<string>, stream: RandomStream): QaTask {
  for (;;) {
    const subject = stream.pick(ENTITIES);
    const relations = drawRelations(hops, stream);
    const question = [subject, ...relations].join(" ");
    if (seen.has(question)) continue;
    seen.add(question);
    const gold = relations.reduce((entity, relation) => encyclopaedia.value(entity, relation), subject as string);
    return { id: question.replaceAll(" ", "-"), source: `hop-${hops}`, question: `${question} ?`, goldAnswers: [gold] };
  }
}
