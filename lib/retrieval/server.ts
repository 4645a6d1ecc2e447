import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { retrieveRequest } from "./contract.ts";
import type { RetrievedDocument, Retriever } from "./retriever.ts";
import { jsonDetail, validationDetails } from "./validation_details.ts";

/** What a retrieval server accepts. */
export interface RetrieverAppOptions {
  /** Documents for a query that names no number; default 3, as Search-R1's `--topk`. */
  defaultTopK?: number;
  /** Most queries in one request; default 10,000 (Search-R1 sends a whole step, 2,560, at once). */
  maxQueries?: number;
  /** Largest body in bytes; default 16 MiB. */
  maxBodyBytes?: number;
}

/**
 * Search-R1's retrieval server over any retriever.
 *
 * - `POST /retrieve` with `{queries, topk, return_scores}`. With scores: `{"result": [[{"document", "score"}, …], …]}`.
 *   Without: `{"result": [[document, …], …]}`, which Search-R1 intends and its own server does not do (the handler in
 *   `retrieval_server.py` unpacks two values from a call that returns one). A query without hits gets an empty list.
 * - `GET /health`: `{status, documents, protocol}`; Search-R1's server has no such page.
 *
 * Errors look like FastAPI's: 422 with `{"detail": [{loc, msg, type}]}` for a body that does not fit, 413 for one that
 * is too large, 404, 405, and 500 with the reason.
 */
export function createRetrieverApp(retriever: Retriever, options: RetrieverAppOptions = {}): Hono {
  const { defaultTopK = 3, maxQueries = 10_000, maxBodyBytes = 16 * 1024 * 1024 } = options;
  const app = new Hono();

  const limit = bodyLimit({
    maxSize: maxBodyBytes,
    onError: (context) =>
      context.json({ detail: `The body is larger than ${maxBodyBytes} bytes: send fewer queries at a time` }, 413),
  });
  app.post("/retrieve", limit, async (context) => {
    const body = await readJson(context);
    if ("error" in body) return context.json({ detail: [jsonDetail(body.error)] }, 422);
    const request = retrieveRequest.safeParse(body.value);
    if (!request.success) return context.json({ detail: validationDetails(request.error, body.value) }, 422);
    const { queries, topk, return_scores } = request.data;
    if (queries.length > maxQueries) {
      const msg = `List should have at most ${maxQueries} items after validation, not ${queries.length}`;
      return context.json({ detail: [{ loc: ["body", "queries"], msg, type: "too_long" }] }, 422);
    }
    const found = await retriever.search(queries, topk || defaultTopK);
    return context.json({ result: return_scores ? found : withoutScores(found) });
  });
  app.all("/retrieve", (context) => context.json({ detail: "Method Not Allowed" }, 405, { allow: "POST" }));
  app.get("/health", (context) => {
    const { protocol } = retriever;
    return context.json({ status: "ok", documents: protocol.documents, protocol });
  });
  app.notFound((context) => context.json({ detail: "Not Found" }, 404));
  app.onError((error, context) => context.json({ detail: `The search failed: ${error.message}` }, 500));
  return app;
}

/** Where a server listens. */
export interface ServeOptions extends RetrieverAppOptions {
  /** Default 127.0.0.1: reachable from this machine only. */
  host?: string;
  /** Default 8000, Search-R1's; 0 takes a free one. */
  port?: number;
}

/** A server that runs. */
export interface RetrieverServer {
  /** Base address, to which `/retrieve` is added. */
  url: string;
  /** The port it got. */
  port: number;
  /** Takes no new requests and waits for those in flight. The retriever stays open. */
  close(): Promise<void>;
}

/**
 * Serves a retriever over HTTP.
 *
 * @throws {Error} if the address is taken or not ours
 */
export function serveRetriever(retriever: Retriever, options: ServeOptions = {}): RetrieverServer {
  const { host = "127.0.0.1", port = 8000, ...appOptions } = options;
  const app = createRetrieverApp(retriever, appOptions);
  const server = listen(host, port, app);
  const name = host.includes(":") ? `[${host}]` : host;
  return { url: `http://${name}:${server.addr.port}`, port: server.addr.port, close: () => server.shutdown() };
}

function listen(hostname: string, port: number, app: Hono): Deno.HttpServer<Deno.NetAddr> {
  try {
    return Deno.serve({ hostname, port, onListen: () => {} }, app.fetch);
  } catch (error) {
    throw new Error(
      `Cannot serve the retriever on ${hostname}, port ${port}: ${(error as Error).message}; choose another port`,
      {
        cause: error,
      },
    );
  }
}

function withoutScores(found: RetrievedDocument[][]): RetrievedDocument["document"][][] {
  return found.map((documents) => documents.map(({ document }) => document));
}

async function readJson(context: Context): Promise<{ value: unknown } | { error: SyntaxError }> {
  const text = await context.req.text();
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: error as SyntaxError };
  }
}
