import type { DiagnosisRule } from "../../lib/reflector/word_edits.ts";
import { wordsOf } from "../../lib/reflector/word_edits.ts";
import type { Failure } from "../../lib/reflector/reflector.ts";
import { RELATIONS } from "../../lib/environment/hop_search/vocabulary.ts";

/**
 * What can be seen in a failed hop-search trajectory, most telling first. The hints are words that a person who does
 * not know what the policy was taught would try; about half of them mean nothing to it.
 */
export const HOP_SEARCH_DIAGNOSES: readonly DiagnosisRule[] = [
  { name: "unfinished", applies: ({ answer }) => answer === null, hints: ["short", "quick", "now"] },
  {
    name: "format",
    applies: ({ answer }) => wordsOf(answer ?? "").length !== 1,
    hints: ["only", "short", "quick", "expert"],
  },
  {
    name: "no search",
    applies: ({ queries }) => queries.length === 0,
    hints: ["search", "lookup", "think", "step", "carefully"],
  },
  { name: "too few searches", applies: hasTooFewFacts, hints: ["step", "decompose", "think", "carefully", "always"] },
  { name: "wrong document", applies: endsOnOtherRelation, hints: ["lookup", "step", "decompose", "expert"] },
  { name: "other", applies: () => true, hints: ["think", "expert", "well", "carefully"] },
];

function hasTooFewFacts({ question, observations }: Failure): boolean {
  return factsIn(observations).length < relationsIn(question).length;
}

function endsOnOtherRelation({ question, observations }: Failure): boolean {
  const last = factsIn(observations).at(-1);
  return last !== undefined && !relationsIn(last).some((relation) => relationsIn(question).includes(relation));
}

function factsIn(observations: readonly string[]): string[] {
  return observations.filter((observation) => relationsIn(observation).length > 0);
}

function relationsIn(text: string): string[] {
  return wordsOf(text).filter((word) => (RELATIONS as readonly string[]).includes(word));
}
