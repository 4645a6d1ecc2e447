import { type RandomStream, randomStream, shuffled } from "../../random/stream.ts";
import { ENTITIES, RELATIONS } from "./vocabulary.ts";

/** One fact: the `relation` of `subject` is `value`. */
export interface Fact {
  subject: string;
  relation: string;
  value: string;
}

/** A generated encyclopaedia: every entity has one value for every relation. */
export interface Encyclopaedia {
  /** In the order of the documents, which is random, so that ties between documents do not follow the relations. */
  facts: readonly Fact[];
  value(subject: string, relation: string): string;
}

/** The encyclopaedia of a seed: 48 entities × 6 relations = 288 facts, no entity pointing at itself. */
export function createEncyclopaedia(seed: number): Encyclopaedia {
  const stream = randomStream(seed, "encyclopaedia");
  const values = new Map<string, string>();
  const facts: Fact[] = [];
  for (const subject of ENTITIES) {
    for (const relation of RELATIONS) {
      const value = otherEntity(subject, stream);
      values.set(`${subject} ${relation}`, value);
      facts.push({ subject, relation, value });
    }
  }
  return {
    facts: shuffled(facts, stream),
    value: (subject, relation) => {
      const value = values.get(`${subject} ${relation}`);
      if (value === undefined) throw new RangeError(`No fact about the ${relation} of "${subject}"`);
      return value;
    },
  };
}

function otherEntity(entity: string, stream: RandomStream): string {
  const index = stream.below(ENTITIES.length - 1);
  return ENTITIES[index] === entity ? ENTITIES[ENTITIES.length - 1] : ENTITIES[index];
}
