import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBm25Index } from "../../lib/retrieval/bm25.ts";
import { type RetrieverServer, serveRetriever } from "../../lib/retrieval/server.ts";

const corpus = [
  { id: "0", contents: '"Cat"\nThe cat sat on the mat.' },
  { id: "1", contents: '"Dog"\nThe dog chased the cat.' },
  { id: "2", contents: '"Cow"\nThe cow, the dog and the hen.' },
];
const index = createBm25Index(corpus);
let server: RetrieverServer;

beforeAll(() => {
  server = serveRetriever(index, { port: 0, defaultTopK: 2, maxQueries: 5, maxBodyBytes: 1000 });
});
afterAll(() => server.close());

async function post(body: unknown): Promise<{ status: number; json: unknown }> {
  const response = await fetch(`${server.url}/retrieve`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, json: await response.json() };
}

describe("POST /retrieve", () => {
  test("answers a batch with scores in Search-R1's shape", async () => {
    const { status, json } = await post({ queries: ["cat", "zebra", "dog"], topk: 3, return_scores: true });
    expect(status).toBe(200);
    expect(json).toEqual({ result: await index.search(["cat", "zebra", "dog"], 3) });
    const [[first], none] = (json as { result: { document: unknown; score: number }[][] }).result;
    expect(Object.keys(first)).toEqual(["document", "score"]);
    expect(first.document).toEqual(corpus[0]);
    expect(none).toEqual([]);
  });

  test("answers with bare documents without return_scores", async () => {
    for (const body of [{ queries: ["cat"] }, { queries: ["cat"], return_scores: false }]) {
      expect((await post(body)).json).toEqual({ result: [[corpus[0], corpus[1]]] });
    }
    // Search-R1's server gives a wrong shape for exactly two queries.
    expect((await post({ queries: ["cat", "hen"], topk: 1 })).json).toEqual({ result: [[corpus[0]], [corpus[2]]] });
  });

  test("takes its default for a topk that is null, 0 or absent", async () => {
    for (const topk of [null, 0, undefined]) {
      expect((await post({ queries: ["the"], topk })).json).toMatchObject({ result: [{ length: 2 }] });
    }
    expect((await post({ queries: ["the"], topk: 3 })).json).toMatchObject({ result: [{ length: 3 }] });
  });

  test("answers no queries with no results", async () => {
    expect(await post({ queries: [], return_scores: true })).toEqual({ status: 200, json: { result: [] } });
  });

  test("answers 422 with FastAPI's details to a body that does not fit", async () => {
    const cases: [unknown, (string | number)[], string][] = [
      [{}, ["body", "queries"], "missing"],
      [{ queries: "cat" }, ["body", "queries"], "list_type"],
      [{ queries: ["cat", 5] }, ["body", "queries", 1], "string_type"],
      [{ queries: ["cat"], topk: "three" }, ["body", "topk"], "int_type"],
      [{ queries: ["cat"], topk: 1.5 }, ["body", "topk"], "int_type"],
      [{ queries: ["cat"], topk: -1 }, ["body", "topk"], "greater_than_equal"],
      [{ queries: ["cat"], topk: 100_000 }, ["body", "topk"], "less_than_equal"],
      [{ queries: ["cat"], return_scores: "maybe" }, ["body", "return_scores"], "bool_type"],
      [["cat"], ["body"], "model_attributes_type"],
      ["null", ["body"], "model_attributes_type"],
      ["{oops", ["body"], "json_invalid"],
      ["", ["body"], "json_invalid"],
      [{ queries: Array(6).fill("cat") }, ["body", "queries"], "too_long"],
    ];
    for (const [body, loc, type] of cases) {
      const { status, json } = await post(body);
      expect({ body, status }).toEqual({ body, status: 422 });
      expect(json).toEqual({ detail: [{ loc, type, msg: expect.stringMatching(/./) }] });
    }
  });

  test("answers 413 to a body over the limit, with and without a declared length", async () => {
    const body = JSON.stringify({ queries: ["cat ".repeat(500)] });
    expect(await post(body)).toMatchObject({ status: 413, json: { detail: expect.stringContaining("1000 bytes") } });
    const stream = new Blob([body]).stream();
    const response = await fetch(`${server.url}/retrieve`, { method: "POST", body: stream });
    expect(response.status).toBe(413);
    await response.body?.cancel();
  });

  test("answers 405 to another method and 404 to another page", async () => {
    for (const [path, status] of [["/retrieve", 405], ["/", 404]] as const) {
      const response = await fetch(server.url + path);
      expect(response.status).toBe(status);
      expect(await response.json()).toEqual({ detail: expect.stringMatching(/Not/) });
    }
  });
});

test("GET /health tells the number of documents and the protocol", async () => {
  const response = await fetch(`${server.url}/health`);
  expect(await response.json()).toEqual({ status: "ok", documents: 3, protocol: index.protocol });
});

test("POST /retrieve answers 500 with the reason where the search fails", async () => {
  const broken = { ...index, search: () => Promise.reject(new Error("disk on fire")) };
  const own = serveRetriever(broken, { port: 0 });
  const response = await fetch(`${own.url}/retrieve`, { method: "POST", body: '{"queries": ["x"]}' });
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ detail: "The search failed: disk on fire" });
  await own.close();
});

test("serveRetriever() says which port is taken", () => {
  expect(() => serveRetriever(index, { port: server.port })).toThrow(`port ${server.port}`);
});

test("serveRetriever().close() frees the port", async () => {
  const first = serveRetriever(index, { port: 0 });
  await first.close();
  const second = serveRetriever(index, { port: first.port });
  expect(second.port).toBe(first.port);
  await second.close();
});
