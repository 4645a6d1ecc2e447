import type { Document } from "./document.ts";

export type { Document } from "./document.ts";

/** A document that was found. */
export interface RetrievedDocument {
  /** What was found, as it stands in the corpus. */
  document: Document;
  /** Larger is better; its unit is the retriever's own. 0 where a search server sends none. */
  score: number;
}

/**
 * What decides which documents a query finds. Two results are comparable only if these fields agree, so the record is
 * plain JSON and travels with every result. A fact that a remote server does not tell is `unresolved` or null.
 */
export interface RetrieverProtocol {
  /** `bm25`, or the name of a dense model such as `intfloat/e5-base-v2`. */
  method: string;
  /** How text becomes words, e.g. `lucene-like`. */
  tokenizer: string;
  /** Words that are left out of documents and queries: `none`, or the name of a list. */
  stopWords: string;
  /** BM25's saturation of the term frequency. */
  k1: number | null;
  /** BM25's normalisation by document length, 0 (none) to 1. */
  b: number | null;
  /** How many times a word of the title counts. */
  titleWeight: number | null;
  /** Whether a word that a query repeats counts `each` time or `once`. */
  repeatedQueryWords: string;
  /** Words of a query beyond this number are not read. */
  maxQueryWords: number | null;
  /** Which of two documents with equal scores comes first. */
  tieOrder: string;
  /** SHA-256 of all ids and contents in corpus order, in hexadecimal. */
  corpusHash: string;
  /** Number of documents. */
  documents: number | null;
}

/** A search engine over a fixed corpus. */
export interface Retriever {
  /** What decides which documents it finds. */
  readonly protocol: RetrieverProtocol;
  /**
   * The best documents for each query, best first: at most `topK`, fewer or none where fewer match.
   *
   * @throws {RangeError} if `topK` is not a whole number of at least 1
   */
  search(queries: readonly string[], topK: number): Promise<RetrievedDocument[][]>;
  /** Frees what the retriever holds; it must not be used afterwards. */
  close(): Promise<void>;
}

/** The protocol of a server that tells nothing about itself, as Search-R1's own servers do. */
export const UNRESOLVED_PROTOCOL: RetrieverProtocol = {
  method: "unresolved",
  tokenizer: "unresolved",
  stopWords: "unresolved",
  k1: null,
  b: null,
  titleWeight: null,
  repeatedQueryWords: "unresolved",
  maxQueryWords: null,
  tieOrder: "unresolved",
  corpusHash: "unresolved",
  documents: null,
};

/**
 * Refuses a number of documents that no search can mean.
 *
 * @throws {RangeError} if `topK` is not a whole number of at least 1
 */
export function checkTopK(topK: number): void {
  if (Number.isInteger(topK) && topK >= 1) return;
  throw new RangeError(`Cannot search for the best ${topK} documents: topK must be a whole number of at least 1`);
}
