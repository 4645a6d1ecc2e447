import { afterEach, expect, test } from "vitest";
import { createBm25Index } from "../../lib/retrieval/bm25.ts";
import {
  connectRetriever,
  createRetrieverClient,
  type RetrieverClientOptions,
  RetrieverUnavailableError,
} from "../../lib/retrieval/client.ts";
import { UNRESOLVED_PROTOCOL } from "../../lib/retrieval/retriever.ts";
import { serveRetriever } from "../../lib/retrieval/server.ts";

const index = createBm25Index([
  { id: "0", contents: '"Cat"\nThe cat sat.' },
  { id: "1", contents: '"Dog"\nThe dog chased the cat.' },
]);
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server of the test's own; counts its requests. */
function serve(
  handler: (request: Request, count: number) => Response | Promise<Response>,
): { url: string; count: () => number } {
  let count = 0;
  const stopped = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, signal: stopped.signal },
    (request) => handler(request, ++count),
  );
  closers.push(() => {
    stopped.abort();
    return server.finished;
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, count: () => count };
}

/** A client that does not wait, and the waits it would have made. */
function impatientClient(url: string, options: Partial<RetrieverClientOptions> = {}) {
  const waits: number[] = [];
  const sleep = (milliseconds: number) => {
    waits.push(milliseconds);
    return Promise.resolve();
  };
  return { client: createRetrieverClient({ url, sleep, ...options }), waits };
}

async function failure(promise: Promise<unknown>): Promise<RetrieverUnavailableError> {
  const error = await promise.then(() => expect.fail("no error"), (error) => error);
  expect(error).toBeInstanceOf(RetrieverUnavailableError);
  return error;
}

const reply = (...result: unknown[][]) => Response.json({ result });

test("createRetrieverClient().search() gives what the index behind the server gives", async () => {
  const server = serveRetriever(index, { port: 0 });
  closers.push(server.close);
  for (const url of [server.url, `${server.url}/`, `${server.url}/retrieve`]) {
    const { client } = impatientClient(url);
    const queries = ["cat", "zebra", "dog"];
    expect(await client.search(queries, 1)).toEqual(await index.search(queries, 1));
  }
});

test("createRetrieverClient().search() sends one request for all queries, as Search-R1's client does, and none for none", async () => {
  const bodies: unknown[] = [];
  const server = serve(async (request) => {
    bodies.push([
      request.method,
      new URL(request.url).pathname,
      request.headers.get("content-type"),
      await request.json(),
    ]);
    return reply([], []);
  });
  const { client } = impatientClient(server.url);
  expect(await client.search([], 3)).toEqual([]);
  expect(bodies).toEqual([]);
  await client.search(["a", "b"], 3);
  expect(bodies).toEqual([["POST", "/retrieve", "application/json", {
    queries: ["a", "b"],
    topk: 3,
    return_scores: true,
  }]]);
});

test("createRetrieverClient().search() tries again after 5xx, with a growing delay", async () => {
  const server = serve((_, count) => count <= 2 ? new Response("Internal Server Error", { status: 500 }) : reply([]));
  const { client, waits } = impatientClient(server.url, { retryDelayMs: 100 });
  expect(await client.search(["a"], 1)).toEqual([[]]);
  expect(waits).toEqual([100, 200]);
  expect(server.count()).toBe(3);
});

test("createRetrieverClient().search() gives up after its retries and says what to do", async () => {
  const server = serve(() => new Response("CUDA out of memory", { status: 503 }));
  const { client } = impatientClient(server.url, { retries: 2 });
  const error = await failure(client.search(["a"], 1));
  expect(error).toMatchObject({ url: `${server.url}/retrieve`, attempts: 3, reason: "server-error", status: 503 });
  expect(error.message).toMatch(/in 3 attempts: status 503, "CUDA out of memory"\. Read the server's log/);
  expect(server.count()).toBe(3);
});

test("createRetrieverClient().search() does not try again after 4xx", async () => {
  const own = serveRetriever(index, { port: 0, maxQueries: 1 });
  closers.push(own.close);
  const { client, waits } = impatientClient(own.url);
  const error = await failure(client.search(["a", "b"], 1));
  expect(error).toMatchObject({ attempts: 1, reason: "refused", status: 422 });
  expect(error.message).toContain("at most 1 items");
  expect(waits).toEqual([]);
});

test("createRetrieverClient().search() times out on a server that hangs, and tries again", async () => {
  const release = Promise.withResolvers<Response>();
  const server = serve((_, count) => count === 1 ? release.promise : reply([]));
  const { client, waits } = impatientClient(server.url, { timeoutMs: 200 });
  expect(await client.search(["a"], 1)).toEqual([[]]);
  expect(waits).toHaveLength(1);
  release.resolve(new Response());
});

test("createRetrieverClient().search() times out on a reply that stops in the middle", async () => {
  const server = serve(() =>
    new Response(new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode('{"result":')) }))
  );
  const { client } = impatientClient(server.url, { timeoutMs: 100, retries: 1 });
  const error = await failure(client.search(["a"], 1));
  expect(error).toMatchObject({ attempts: 2, reason: "timeout", status: null });
  expect(error.message).toContain("no reply within 100 ms");
});

test("createRetrieverClient().search() reports a refused connection with its cause", async () => {
  const gone = serveRetriever(index, { port: 0 });
  await gone.close();
  const { client, waits } = impatientClient(gone.url, { retries: 3 });
  const error = await failure(client.search(["a"], 1));
  expect(error).toMatchObject({ attempts: 4, reason: "unreachable", status: null });
  expect(error.cause).toBeInstanceOf(TypeError);
  expect(error.message).toContain("Start the server");
  expect(waits).toEqual([1000, 2000, 3000]);
});

test("createRetrieverClient().search() refuses replies that are not results, without trying again", async () => {
  const cases: [Response, RegExp][] = [
    [new Response("<html>"), /not JSON: "<html>"/],
    [Response.json({ results: [] }), /result/],
    [Response.json({ result: [[{ document: { id: "0" }, score: 1 }]] }), /contents/],
    // Search-R1's server without scores.
    [Response.json({ result: [[{ id: "0", contents: "x" }]] }), /document/],
    [reply([], []), /2 result lists for 1 queries/],
  ];
  for (const [response, message] of cases) {
    const server = serve(() => response);
    const { client } = impatientClient(server.url);
    const error = await failure(client.search(["a"], 1));
    expect(error).toMatchObject({ reason: "unreadable", attempts: 1 });
    expect(error.message).toMatch(message);
    expect(server.count()).toBe(1);
  }
});

test("createRetrieverClient().search() accepts the other servers of Search-R1: no id, no score, more fields, more documents", async () => {
  const server = serve(() =>
    reply([{ document: { contents: "a" } }, { document: { id: 5, contents: "b", title: "t" }, score: 2 }, {
      document: { contents: "c" },
    }])
  );
  const { client } = impatientClient(server.url);
  expect(await client.search(["q"], 2)).toEqual([[
    { document: { id: "", contents: "a" }, score: 0 },
    { document: { id: "5", contents: "b" }, score: 2 },
  ]]);
});

test("createRetrieverClient() refuses an address that is not HTTP and a topK below 1", async () => {
  expect(() => createRetrieverClient({ url: "localhost:8000" })).toThrow(TypeError);
  expect(() => createRetrieverClient({ url: "" })).toThrow('such as "http://127.0.0.1:8000"');
  await expect(createRetrieverClient({ url: "http://127.0.0.1:1" }).search(["a"], 0)).rejects.toThrow(RangeError);
});

test("connectRetriever() learns the protocol of this kit's server", async () => {
  const server = serveRetriever(index, { port: 0 });
  closers.push(server.close);
  const client = await connectRetriever({ url: server.url });
  expect(client.protocol).toEqual(index.protocol);
  expect(await client.search(["cat"], 2)).toEqual([index.searchOne("cat", 2)]);
});

test("connectRetriever() takes a server without a health page, after one query", async () => {
  const server = serve((request) =>
    request.url.endsWith("/retrieve") ? reply([]) : Response.json({ detail: "Not Found" }, { status: 404 })
  );
  expect((await connectRetriever({ url: server.url })).protocol).toEqual(UNRESOLVED_PROTOCOL);
  expect(server.count()).toBe(2);
});

test("connectRetriever() refuses a server that is no retriever", async () => {
  const server = serve(() => new Response("hello", { status: 404 }));
  expect(await failure(connectRetriever({ url: server.url }))).toMatchObject({ reason: "refused", status: 404 });
});
