import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { healthReply, retrieveReply } from "./contract.ts";
import { checkTopK, type Retriever, type RetrieverProtocol, UNRESOLVED_PROTOCOL } from "./retriever.ts";
import { RetrieverUnavailableError } from "./retriever_unavailable_error.ts";

export { RetrieverUnavailableError };

/** How a client reaches its server. */
export interface RetrieverClientOptions {
  /** Base address, e.g. `http://127.0.0.1:8000`; `/retrieve` may be written behind it. */
  url: string;
  /** Milliseconds for one attempt, reading the reply included; default 30,000 as in veRL's search client. */
  timeoutMs?: number;
  /** Attempts after the first one; default 10 as in veRL's search client. */
  retries?: number;
  /** Milliseconds before the first retry; before the n-th one it is n times that. Default 1,000. */
  retryDelayMs?: number;
  /** What is known about the server; default: nothing. {@link connectRetriever} asks the server. */
  protocol?: RetrieverProtocol;
  /** Waits for a time in milliseconds. */
  sleep?: (milliseconds: number) => Promise<void>;
}

/**
 * A retriever behind Search-R1's HTTP contract: this kit's server, Search-R1's own, or any that answers alike.
 *
 * All queries of a call go in one request, as in Search-R1; no queries, no request. Timeouts, refused or broken
 * connections and 5xx replies are tried again with a growing delay (veRL's search client does so, Search-R1's does not);
 * other replies are not.
 *
 * @throws {TypeError} if `url` is not an HTTP address
 */
export function createRetrieverClient(options: RetrieverClientOptions): Retriever {
  const url = endpoint(options.url, "retrieve");
  return {
    protocol: options.protocol ?? UNRESOLVED_PROTOCOL,
    search: async (queries, topK) => {
      checkTopK(topK);
      if (queries.length === 0) return [];
      const { result } = await request(url, retrieveReply, options, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ queries, topk: topK, return_scores: true }),
      });
      if (result.length !== queries.length) {
        throw new RetrieverUnavailableError(
          url,
          "unreadable",
          1,
          `${result.length} result lists for ${queries.length} queries`,
        );
      }
      return result.map((documents) => documents.slice(0, topK));
    },
    close: () => Promise.resolve(),
  };
}

/**
 * A client of a server that is known to be up, with the protocol that its `/health` page tells. A server without that
 * page, such as Search-R1's own, is asked one query instead and its protocol stays unresolved.
 *
 * @throws {RetrieverUnavailableError} if the server does not answer as a retriever does
 */
export async function connectRetriever(options: RetrieverClientOptions): Promise<Retriever> {
  try {
    const { protocol } = await request(endpoint(options.url, "health"), healthReply, options, { method: "GET" });
    return createRetrieverClient({ ...options, protocol: options.protocol ?? protocol });
  } catch (error) {
    if (!(error instanceof RetrieverUnavailableError && error.status === 404)) throw error;
  }
  const client = createRetrieverClient(options);
  await client.search(["test"], 1);
  return client;
}

function endpoint(base: string, page: "retrieve" | "health"): string {
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol)) {
    throw new TypeError(`Cannot reach a retriever at "${base}": give an address such as "http://127.0.0.1:8000"`);
  }
  return `${base.replace(/\/+$/, "").replace(/\/retrieve$/, "")}/${page}`;
}

async function request<T>(
  url: string,
  reply: z.ZodType<T>,
  options: RetrieverClientOptions,
  init: RequestInit,
): Promise<T> {
  const { timeoutMs = 30_000, retries = 10, retryDelayMs = 1000, sleep = wait } = options;
  for (let attempt = 1;; attempt++) {
    try {
      return await requestOnce(url, reply, timeoutMs, attempt, init);
    } catch (error) {
      const isTransient = error instanceof RetrieverUnavailableError && error.isTransient;
      if (!isTransient || attempt > retries) throw error;
    }
    await sleep(attempt * retryDelayMs);
  }
}

async function requestOnce<T>(
  url: string,
  reply: z.ZodType<T>,
  timeoutMs: number,
  attempt: number,
  init: RequestInit,
): Promise<T> {
  const fail = (
    reason: RetrieverUnavailableError["reason"],
    what: string,
    details: ErrorOptions & { status?: number } = {},
  ) => new RetrieverUnavailableError(url, reason, attempt, what, details);
  let status: number;
  let text: string;
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    status = response.status;
    text = await response.text();
  } catch (cause) {
    if ((cause as Error).name === "TimeoutError") throw fail("timeout", `no reply within ${timeoutMs} ms`, { cause });
    throw fail("unreachable", (cause as Error).message, { cause });
  }
  if (status >= 500) throw fail("server-error", `status ${status}, "${shortened(text)}"`, { status });
  if (status !== 200) throw fail("refused", `status ${status}, "${shortened(text)}"`, { status });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw fail("unreadable", `not JSON: "${shortened(text)}"`, { status, cause });
  }
  const parsed = reply.safeParse(value);
  if (!parsed.success) {
    throw fail("unreadable", z.prettifyError(parsed.error).replaceAll("\n", " "), { status, cause: parsed.error });
  }
  return parsed.data;
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
