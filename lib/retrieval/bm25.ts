import { corpusHash } from "./corpus_hash.ts";
import type { Document } from "./document.ts";
import { buildPostings, type Postings } from "./postings.ts";
import { checkTopK, type RetrievedDocument, type Retriever, type RetrieverProtocol } from "./retriever.ts";
import { STOP_WORDS } from "./stop_words.ts";
import { type Tokenizer, TOKENIZERS } from "./tokenizer.ts";
import { selectTopK } from "./top_k.ts";

/** How documents and queries are read and scored. Everything here is a protocol field: it decides what is found. */
export interface Bm25Options {
  /** A tokenizer by name, or one of the caller's; default `lucene-like`. */
  tokenizer?: keyof typeof TOKENIZERS | Tokenizer;
  /** Words that are left out; `english` is Lucene's list of 33. Default `none`. */
  stopWords?: keyof typeof STOP_WORDS;
  /** Saturation of the term frequency, at least 0: Lucene's default 1.2 is ours, pyserini's is 0.9. */
  k1?: number;
  /** Normalisation by length, 0 (none) to 1: Lucene's default 0.75 is ours, pyserini's is 0.4. */
  b?: number;
  /** How many times a word of the title counts, above 0; default 1. */
  titleWeight?: number;
  /** Whether a word that a query repeats counts each time (as in Lucene; the default) or once. */
  repeatedQueryWords?: "each" | "once";
  /** Words of a query beyond this number are not read; default 256, the limit of Search-R1's retriever. */
  maxQueryWords?: number;
}

/** A BM25 index in memory. */
export interface Bm25Index extends Retriever {
  /** {@link Retriever.search} for one query, without a promise: for rollouts that search in a hot loop. */
  searchOne(query: string, topK: number): RetrievedDocument[];
}

/**
 * Indexes a corpus for BM25 (Robertson and Zaragoza 2009, with Lucene's idf):
 *
 *     score(d, q) = Σ_{t ∈ q} ln(1 + (N − df + ½) / (df + ½)) · (k1 + 1)·tf / (tf + k1·(1 − b + b·|d| / average |d|))
 *
 * Each posting's summand is computed once and kept as a Float32; a query adds them up in Float64, where sums of so few
 * Float32 numbers of similar size are exact. So a score does not depend on the order of the query's words, and documents
 * that tie on paper tie here: the lower index comes first.
 *
 * Every posting of every query word is visited; skipping some (MaxScore) gained about a factor of two. Measured on one
 * core of an AMD EPYC with `scripts/bench/retrieval.ts`, top 3, all words of HotpotQA's questions over 4,943 paragraphs:
 * about 10,000 questions a second (30,000 with stop words) against 56 of SQLite's FTS5; 100,000 documents of 40 words are
 * indexed in 1 s; a query of two words over 288 facts takes 1 to 2 µs.
 *
 * @throws {RangeError} if an option is out of its range, the corpus is empty or an id occurs twice
 */
export function createBm25Index(corpus: readonly Document[], options: Bm25Options = {}): Bm25Index {
  const settings = resolve(options);
  checkCorpus(corpus);
  const postings = buildPostings(corpus, {
    tokenizer: settings.tokenizer,
    stopWords: STOP_WORDS[settings.stopWords],
    titleWeight: settings.titleWeight,
  });
  const impacts = computeImpacts(postings, settings.k1, settings.b);

  // All 0 between queries.
  const scores = new Float64Array(corpus.length);
  const touched = new Int32Array(corpus.length);

  const searchOne = (query: string, topK: number): RetrievedDocument[] => {
    checkTopK(topK);
    let count = 0;
    for (const [word, times] of queryWords(query, postings, settings)) {
      const end = postings.starts[word + 1];
      for (let i = postings.starts[word]; i < end; i++) {
        const document = postings.documents[i];
        if (scores[document] === 0) touched[count++] = document;
        scores[document] += times * impacts[i];
      }
    }
    const found = selectTopK(scores, touched, count, topK).map((i) => ({ document: corpus[i], score: scores[i] }));
    for (let i = 0; i < count; i++) scores[touched[i]] = 0;
    return found;
  };

  return {
    protocol: protocolOf(settings, corpus),
    searchOne,
    search: (queries, topK) => Promise.resolve().then(() => queries.map((query) => searchOne(query, topK))),
    close: () => Promise.resolve(),
  };
}

type Settings = Required<Bm25Options> & { tokenizer: Tokenizer };

function resolve(options: Bm25Options): Settings {
  const { tokenizer = "lucene-like", k1 = 1.2, b = 0.75, titleWeight = 1, maxQueryWords = 256 } = options;
  const { stopWords = "none", repeatedQueryWords = "each" } = options;
  const check = (isValid: boolean, name: string, value: unknown, need: string) => {
    if (!isValid) throw new RangeError(`Cannot build a BM25 index with ${name} = ${value}: it must be ${need}`);
  };
  check(Number.isFinite(k1) && k1 >= 0, "k1", k1, "a number of at least 0");
  check(b >= 0 && b <= 1, "b", b, "a number from 0 to 1");
  check(Number.isFinite(titleWeight) && titleWeight > 0, "titleWeight", titleWeight, "a number above 0");
  check(
    Number.isInteger(maxQueryWords) && maxQueryWords >= 1,
    "maxQueryWords",
    maxQueryWords,
    "a whole number of at least 1",
  );
  check(stopWords in STOP_WORDS, "stopWords", stopWords, `one of ${Object.keys(STOP_WORDS).join(", ")}`);
  const chosen = typeof tokenizer === "string" ? TOKENIZERS[tokenizer] : tokenizer;
  check(
    chosen !== undefined,
    "tokenizer",
    tokenizer,
    `one of ${Object.keys(TOKENIZERS).join(", ")}, or a function with a name`,
  );
  return { tokenizer: chosen, stopWords, k1, b, titleWeight, repeatedQueryWords, maxQueryWords };
}

function checkCorpus(corpus: readonly Document[]): void {
  if (corpus.length === 0) throw new RangeError("Cannot index an empty corpus: it has no documents");
  const seen = new Set<string>();
  for (const { id } of corpus) {
    if (seen.has(id)) {
      throw new RangeError(`Cannot index the corpus: the id "${id}" occurs twice; give each document an id of its own`);
    }
    seen.add(id);
  }
}

function protocolOf(settings: Settings, corpus: readonly Document[]): RetrieverProtocol {
  return {
    method: "bm25",
    tokenizer: settings.tokenizer.name,
    stopWords: settings.stopWords,
    k1: settings.k1,
    b: settings.b,
    titleWeight: settings.titleWeight,
    repeatedQueryWords: settings.repeatedQueryWords,
    maxQueryWords: settings.maxQueryWords,
    tieOrder: "lower document index first",
    corpusHash: corpusHash(corpus),
    documents: corpus.length,
  };
}

/** The summand of each posting, in the order of the postings. */
function computeImpacts(postings: Postings, k1: number, b: number): Float32Array {
  const { starts, documents, counts, lengths } = postings;
  const averageLength = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  const norms = lengths.map((length) => averageLength === 0 ? k1 : k1 * (1 - b + b * length / averageLength));
  const impacts = new Float32Array(counts.length);
  for (let word = 0; word + 1 < starts.length; word++) {
    const frequency = starts[word + 1] - starts[word];
    const idf = Math.log(1 + (lengths.length - frequency + 0.5) / (frequency + 0.5));
    for (let i = starts[word]; i < starts[word + 1]; i++) {
      impacts[i] = idf * (k1 + 1) * counts[i] / (counts[i] + norms[documents[i]]);
    }
  }
  return impacts;
}

/** The query's known words, each one once, with how often it counts. */
function queryWords(query: string, postings: Postings, settings: Settings): Map<number, number> {
  const words = new Map<number, number>();
  const tokens = settings.tokenizer.tokenize(query);
  const length = Math.min(tokens.length, settings.maxQueryWords);
  for (let i = 0; i < length; i++) {
    const word = postings.dictionary.find(tokens[i]);
    if (word < postings.stopWords) continue;
    words.set(word, settings.repeatedQueryWords === "once" ? 1 : (words.get(word) ?? 0) + 1);
  }
  return words;
}
