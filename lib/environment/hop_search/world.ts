import { type Bm25Index, createBm25Index } from "../../retrieval/bm25.ts";
import { createEncyclopaedia } from "./encyclopaedia.ts";
import { createQuestions, type QuestionSplits } from "./questions.ts";

/** A generated world: questions, and the search engine that finds the facts behind them. */
export interface HopSearchWorld {
  questions: QuestionSplits;
  retriever: Bm25Index;
}

/**
 * The world of a seed. The search engine is BM25 without normalisation by length, the subject counted twice, so that
 * "subject relation" finds its fact, while a whole question of several relations ties between them.
 */
export function createHopSearchWorld(seed: number): HopSearchWorld {
  const encyclopaedia = createEncyclopaedia(seed);
  const documents = encyclopaedia.facts.map(({ subject, relation, value }, index) => ({
    id: `${index}`,
    contents: `"${subject}"\n${relation} ${value}`,
  }));
  const retriever = createBm25Index(documents, {
    tokenizer: "whitespace",
    k1: 1.2,
    b: 0,
    titleWeight: 2,
    repeatedQueryWords: "once",
  });
  return { questions: createQuestions(encyclopaedia, seed), retriever };
}
