/**
 * Search-R1's retrieval contract as schemas: what the server reads and the client accepts.
 *
 * Source: Search-R1, `search_r1/search/retrieval_server.py` (request, reply) and `search_r1/llm_agent/generation.py`
 * (what its client reads); `/health` is ours.
 *
 * @module
 */
import { z } from "zod";
import type { RetrieverProtocol } from "./retriever.ts";

/** The largest `topk` that a server answers. */
export const MAX_TOP_K = 1000;

/** Body of `POST /retrieve`. */
export const retrieveRequest = z.object({
  queries: z.array(z.string()),
  /** Null, 0 or absent: the server's default. */
  topk: z.int().min(0).max(MAX_TOP_K).nullish(),
  return_scores: z.boolean().default(false),
});

/**
 * Reply of `POST /retrieve` with `return_scores: true`: `[query][rank]`. Servers over web search engines send documents
 * without id, and some without score.
 */
export const retrieveReply = z.object({
  result: z.array(z.array(z.object({
    document: z.object({
      id: z.union([z.string(), z.number()]).transform(String).default(""),
      contents: z.string(),
    }),
    score: z.number().default(0),
  }))),
});

/** {@link RetrieverProtocol} on the wire. */
export const retrieverProtocol: z.ZodType<RetrieverProtocol> = z.object({
  method: z.string(),
  tokenizer: z.string(),
  stopWords: z.string(),
  k1: z.number().nullable(),
  b: z.number().nullable(),
  titleWeight: z.number().nullable(),
  repeatedQueryWords: z.string(),
  maxQueryWords: z.number().nullable(),
  tieOrder: z.string(),
  corpusHash: z.string(),
  documents: z.number().nullable(),
});

/** Reply of `GET /health`. */
export const healthReply = z.object({
  status: z.literal("ok"),
  documents: z.number().nullable(),
  protocol: retrieverProtocol,
});
