import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { openCallLog } from "../../lib/api/call_log.ts";
import { ChatError, type ChatRequest } from "../../lib/api/chat.ts";
import { type ChatClientOptions, createChatClient } from "../../lib/api/chat_client.ts";
import { BudgetExhaustedError } from "../../lib/api/spending.ts";
import { chatServer, failure, reply } from "./chat_server.ts";

const prices = { inputPerMillion: 1_000, outputPerMillion: 10_000 };

function client(baseUrl: string, more: Partial<ChatClientOptions> = {}) {
  return createChatClient({ model: "m", baseUrl, timeoutMs: 2_000, retries: 0, concurrency: 4, limits: {}, ...more });
}

function ask(content: string, more: Partial<ChatRequest> = {}): ChatRequest {
  return { messages: [{ role: "user", content }], maxTokens: 20, temperature: 0, key: "test", ...more };
}

function temporaryFile(name: string): string {
  return join(mkdtempSync(join(tmpdir(), "coevo-")), name);
}

async function failureOf(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  return await promise.then(() => Promise.reject(new Error("did not fail")), (error) => error);
}

test("complete() sends the sampling options and returns text, finish and usage", async () => {
  await using server = chatServer([reply("four", { usage: [11, 2] })]);
  const chat = client(server.baseUrl, { prices });
  const answer = await chat.complete(ask("2+2?", { topP: 0.5, stop: ["\n"], seed: 7 }));
  expect(answer).toEqual({
    text: "four",
    refusal: null,
    finish: "stop",
    stopText: undefined,
    model: "m-2026",
    usage: { inputTokens: 11, outputTokens: 2, costUsd: 0.031, isEstimated: false },
  });
  expect(server.requests).toEqual([
    {
      model: "m",
      messages: [{ role: "user", content: "2+2?" }],
      max_tokens: 20,
      temperature: 0,
      top_p: 0.5,
      stop: ["\n"],
      seed: 7,
    },
  ]);
  expect(chat.spending()).toEqual({ calls: 1, reusedCalls: 0, inputTokens: 11, outputTokens: 2, costUsd: 0.031 });
});

test("complete() reads cut-off, filtered and uncounted replies, and the stop text where a server tells it", async () => {
  await using server = chatServer([
    reply("one two", { finish: "length" }),
    reply("", { finish: "content_filter" }),
    reply("12345678", { usage: null, extra: { stop_reason: "</a>" } }),
    reply("x", { extra: { stop_reason: null } }),
    reply("x", { extra: { matched_stop: 151645 } }),
  ]);
  const chat = client(server.baseUrl);
  expect((await chat.complete(ask("a"))).finish).toBe("length");
  expect((await chat.complete(ask("b"))).finish).toBe("filtered");
  const uncounted = await chat.complete(ask("123"));
  expect(uncounted.usage).toEqual({ inputTokens: 1, outputTokens: 2, costUsd: null, isEstimated: true });
  expect(uncounted.stopText).toBe("</a>");
  expect((await chat.complete(ask("d"))).stopText).toBe(null);
  expect((await chat.complete(ask("e"))).stopText).toBe(null);
});

test("complete() tries again after 429 twice, and counts one call", async () => {
  await using server = chatServer([failure(429), failure(429), reply("ok")]);
  const chat = client(server.baseUrl, { retries: 2 });
  expect((await chat.complete(ask("a"))).text).toBe("ok");
  expect(server.headers.map((headers) => headers.get("x-stainless-retry-count"))).toEqual(["0", "1", "2"]);
  expect(chat.spending().calls).toBe(1);
});

test("complete() gives up on a server that always fails", async () => {
  await using server = chatServer([failure(500)]);
  const error = await failureOf(client(server.baseUrl, { retries: 1 }).complete(ask("a")));
  expect(error).toBeInstanceOf(ChatError);
  expect(error).toMatchObject({ reason: "unreachable", status: 500, message: expect.stringContaining("2 tries") });
  expect(server.requests.length).toBe(2);
});

test("complete() does not repeat a rejected request and quotes the server", async () => {
  await using server = chatServer([{ kind: "status", status: 401, message: "bad key" }]);
  const error = await failureOf(client(server.baseUrl, { retries: 3 }).complete(ask("a")));
  expect(error).toMatchObject({ reason: "rejected", status: 401, message: expect.stringContaining("bad key") });
  expect(server.requests.length).toBe(1);
});

test("complete() ends the wait for a hanging server, by try and in all", async () => {
  await using server = chatServer([{ kind: "hang" }]);
  const byTry = await failureOf(client(server.baseUrl, { timeoutMs: 50 }).complete(ask("a")));
  expect(byTry).toMatchObject({ reason: "timeout" });
  const inAll = await failureOf(
    client(server.baseUrl, { timeoutMs: 5_000, totalMs: 50, retries: 5 }).complete(ask("a")),
  );
  expect(inAll).toMatchObject({ reason: "timeout", message: expect.stringContaining("within 50 ms in all") });
});

test("complete() ends a long Retry-After at the total time limit", async () => {
  await using server = chatServer([{ kind: "status", status: 429, headers: { "retry-after": "30" } }]);
  const error = await failureOf(client(server.baseUrl, { totalMs: 50, retries: 5 }).complete(ask("a")));
  expect(error).toMatchObject({ reason: "timeout" });
  expect(server.requests.length).toBe(1);
});

test("complete() reports a server that is not there", async () => {
  const server = chatServer([]);
  await server[Symbol.asyncDispose]();
  expect(await failureOf(client(server.baseUrl).complete(ask("a")))).toMatchObject({ reason: "unreachable" });
});

test("complete() refuses garbage, an empty list of choices, and a reply without end", async () => {
  await using server = chatServer([
    { kind: "raw", body: "{not json" },
    { kind: "raw", body: "<html>", type: "text/html" },
    { kind: "raw", body: '{"choices":[]}' },
    { kind: "raw", body: `{"choices":"${"x".repeat(100_000)}"}` },
  ]);
  const chat = client(server.baseUrl, { maxReplyBytes: 10_000 });
  for (let i = 0; i < 3; i++) {
    expect(await failureOf(chat.complete(ask("a")))).toMatchObject({ name: "ChatError", reason: "unreadable" });
  }
  const endless = await failureOf(chat.complete(ask("a")));
  expect(endless).toMatchObject({ reason: "unreadable", message: expect.stringContaining("longer than 10000 bytes") });
});

test("complete() sends no call beyond maxCalls, also when they come at once", async () => {
  await using server = chatServer([reply("ok")]);
  const chat = client(server.baseUrl, { limits: { maxCalls: 3 } });
  const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map((n) => chat.complete(ask(`${n}`))));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"]);
  const error = await failureOf(chat.complete(ask("6")));
  expect(error).toBeInstanceOf(BudgetExhaustedError);
  expect(error).toMatchObject({ kind: "calls", spent: 3, limit: 3 });
  expect(server.requests.length).toBe(3);
});

test("complete() sends no call once maxCostUsd is spent", async () => {
  await using server = chatServer([reply("ok", { usage: [0, 100] })]);
  const chat = client(server.baseUrl, { prices, limits: { maxCostUsd: 1.5 } });
  await chat.complete(ask("1"));
  await chat.complete(ask("2"));
  const error = await failureOf(chat.complete(ask("3")));
  expect(error).toMatchObject({ name: "BudgetExhaustedError", kind: "cost", spent: 2, limit: 1.5 });
  expect(server.requests.length).toBe(2);
});

test("complete() keeps to the concurrency limit and uses all of it", async () => {
  const limit = 3;
  let arrived = 0;
  let release = () => {};
  let gate = new Promise<void>((resolve) => release = resolve);
  // Each group of three is answered when its third request is there: fewer at a time would wait for ever.
  await using server = chatServer(async () => {
    const mine = gate;
    if (++arrived % limit === 0) {
      release();
      gate = new Promise((resolve) => release = resolve);
    }
    await mine;
    await new Promise((resolve) => setTimeout(resolve, 5));
    return reply("ok");
  });
  const chat = client(server.baseUrl, { concurrency: limit });
  await Promise.all(Array.from({ length: 12 }, (_, n) => chat.complete(ask(`${n}`))));
  expect(server.requests.length).toBe(12);
  expect(server.mostAtOnce).toBe(limit);
});

test("complete() does not send a call whose signal was aborted in the queue", async () => {
  await using server = chatServer([reply("ok")]);
  const chat = client(server.baseUrl, { concurrency: 1 });
  const stop = new AbortController();
  const first = chat.complete(ask("1"));
  const second = failureOf(chat.complete(ask("2", { signal: stop.signal })));
  stop.abort(new Error("enough"));
  await first;
  expect((await second).message).toBe("enough");
  expect(server.requests.length).toBe(1);
});

test("complete() pays for no logged call again, also after a restart and a torn last line", async () => {
  await using server = chatServer((request) => reply(`to ${request.messages[0].content}`));
  const path = temporaryFile("calls.jsonl");
  const before = client(server.baseUrl, { prices, log: openCallLog(path) });
  const first = await before.complete(ask("1"));
  await before.complete(ask("2"));
  await before.complete(ask("3"));
  expect(server.requests.length).toBe(3);

  writeFileSync(path, readFileSync(path, "utf8").slice(0, -20));
  const after = client(server.baseUrl, { prices, log: openCallLog(path) });
  expect(await after.complete(ask("1"))).toEqual(first);
  expect((await after.complete(ask("2"))).text).toBe("to 2");
  expect(server.requests.length).toBe(3);
  await after.complete(ask("3"));
  expect(server.requests.length).toBe(4);
  expect(after.spending()).toEqual({ ...before.spending(), reusedCalls: 2 });
  expect(readFileSync(path, "utf8").split("\n").length).toBe(4);
});

test("complete() takes a call with another seed, key, option or model for another call", async () => {
  await using server = chatServer([reply("ok")]);
  const log = openCallLog(temporaryFile("calls.jsonl"));
  const chat = client(server.baseUrl, { log });
  const variants = [{}, { seed: 1 }, { seed: 2 }, { key: "other" }, { maxTokens: 21 }, { temperature: 0.5 }, {
    topP: 0.5,
  }, { stop: ["x"] }];
  for (const variant of [...variants, ...variants]) await chat.complete(ask("1", variant));
  expect(server.requests.length).toBe(variants.length);
  await client(server.baseUrl, { log, model: "n" }).complete(ask("1"));
  expect(server.requests.length).toBe(variants.length + 1);
});

test("complete() shares one paid call between equal requests that come at once", async () => {
  await using server = chatServer([reply("ok")]);
  const chat = client(server.baseUrl, { log: openCallLog(temporaryFile("calls.jsonl")) });
  const answers = await Promise.all([1, 2, 3].map(() => chat.complete(ask("1"))));
  expect(answers.map(({ text }) => text)).toEqual(["ok", "ok", "ok"]);
  expect(server.requests.length).toBe(1);
  expect(chat.spending()).toMatchObject({ calls: 1, reusedCalls: 2 });
});

test("createChatClient() counts what the log has paid for in its limits, and still answers from the log", async () => {
  await using server = chatServer([reply("ok")]);
  const path = temporaryFile("calls.jsonl");
  await client(server.baseUrl, { log: openCallLog(path) }).complete(ask("1"));
  const resumed = client(server.baseUrl, { prices, log: openCallLog(path), limits: { maxCalls: 1 } });
  expect(resumed.spending().costUsd).toBeCloseTo(0.06, 12);
  expect((await resumed.complete(ask("1"))).text).toBe("ok");
  expect(await failureOf(resumed.complete(ask("2")))).toMatchObject({ kind: "calls", spent: 1, limit: 1 });
  expect(server.requests.length).toBe(1);
});

const answer = z.object({ city: z.string(), rank: z.number() });
const parseRequest = { ...ask("Which city?"), schema: answer, schemaName: "answer" };

test("forModel() has the limits, the log and the places of its client, and its own model", async () => {
  const held = Promise.withResolvers<void>();
  await using server = chatServer(async ({ model }) => {
    if (server.requests.length === 2) held.resolve();
    await held.promise;
    return reply(model);
  });
  const log = openCallLog(temporaryFile("calls.jsonl"));
  const chat = client(server.baseUrl, { log, limits: { maxCalls: 3 }, concurrency: 2 });
  const other = chat.forModel("n");
  const texts = await Promise.all([chat, other, other].map((each, n) => each.complete(ask(`${n % 2}`))));
  expect(texts.map(({ text }) => text)).toEqual(["m", "n", "n"]);
  expect(server.mostAtOnce).toBe(2);
  await expect(chat.complete(ask("one too many"))).rejects.toThrow(BudgetExhaustedError);
  expect(await other.complete(ask("1"))).toMatchObject({ text: "n" });
  expect(other.spending()).toEqual(chat.spending());
  expect([...log.replies()].length).toBe(3);
});

test.each([[401, "OPENAI_API_KEY"], [404, "OPENAI_BASE_URL"]])(
  "complete() names what to check after HTTP %i: %s",
  async (status, variable) => {
    await using server = chatServer([failure(status)]);
    await expect(client(server.baseUrl).complete(ask("q"))).rejects.toThrow(variable);
  },
);

test("parse() asks for structured output and validates it", async () => {
  await using server = chatServer([reply('{"city":"Paris","rank":1}')]);
  const result = await client(server.baseUrl).parse(parseRequest);
  expect(result).toEqual({
    value: { city: "Paris", rank: 1 },
    calls: 1,
    usage: { inputTokens: 10, outputTokens: 5, costUsd: null, isEstimated: false },
  });
  expect(server.requests[0].response_format).toMatchObject({
    type: "json_schema",
    json_schema: { name: "answer", strict: true, schema: { type: "object", required: ["city", "rank"] } },
  });
});

test("parse() takes the first fitting object of a plain-text reply", async () => {
  const text =
    'I think {so}: {"note": "not {this} one"}\n```json\n{"city": "A \\"}\\" b", "rank": 2}\n``` {"city":"Rome","rank":3}';
  await using server = chatServer([reply(text)]);
  const result = await client(server.baseUrl, { structuredOutput: false }).parse(parseRequest);
  expect(result.value).toEqual({ city: 'A "}" b', rank: 2 });
  expect(server.requests[0].response_format).toBeUndefined();
});

test("parse() sends an unusable reply back once with what is wrong", async () => {
  await using server = chatServer([reply('{"city":"Paris"}'), reply('{"city":"Paris","rank":1}')]);
  const result = await client(server.baseUrl).parse(parseRequest);
  expect(result).toMatchObject({ calls: 2, usage: { inputTokens: 20, outputTokens: 10 } });
  expect(server.requests[1].messages.slice(1)).toEqual([
    { role: "assistant", content: '{"city":"Paris"}' },
    { role: "user", content: expect.stringContaining("rank") },
  ]);
});

test("parse() fails as unreadable after the second unusable reply, and says whether it was cut off", async () => {
  await using server = chatServer([reply("no"), reply("still no"), reply('{"city":', { finish: "length" })]);
  expect(await failureOf(client(server.baseUrl).parse(parseRequest))).toMatchObject({
    reason: "unreadable",
    message: expect.stringContaining("no JSON"),
  });
  expect(server.requests.length).toBe(2);
  expect(await failureOf(client(server.baseUrl).parse(parseRequest))).toMatchObject({
    message: expect.stringContaining("cut off"),
  });
});

test("parse() reports a refusal and does not ask again", async () => {
  await using server = chatServer([
    { kind: "reply", content: null, refusal: "I cannot." },
    reply("", { finish: "content_filter" }),
  ]);
  expect(await failureOf(client(server.baseUrl).parse(parseRequest))).toMatchObject({
    reason: "refused",
    message: expect.stringContaining("I cannot."),
  });
  expect(await failureOf(client(server.baseUrl).parse(parseRequest))).toMatchObject({ reason: "refused" });
  expect(server.requests.length).toBe(2);
});

test("createChatClient() takes address and key from the environment and names the variable that is missing", async () => {
  await using server = chatServer([reply("ok")]);
  try {
    vi.stubEnv("OPENAI_API_KEY", "");
    vi.stubEnv("OPENAI_BASE_URL", "");
    expect(() => client("https://llm.example.org/v1")).toThrow(/llm\.example\.org.*OPENAI_API_KEY/);
    expect(() => createChatClient({ model: "m", timeoutMs: 1, retries: 0, concurrency: 1, limits: {} })).toThrow(
      /api\.openai\.com.*OPENAI_API_KEY/,
    );
    expect(() => client("127.0.0.1:8000")).toThrow(TypeError);
    await client(server.baseUrl).complete(ask("no key"));
    vi.stubEnv("OPENAI_API_KEY", "secret");
    vi.stubEnv("OPENAI_BASE_URL", `${server.baseUrl}/`);
    await createChatClient({ model: "m", timeoutMs: 2_000, retries: 0, concurrency: 1, limits: {} }).complete(
      ask("key"),
    );
    expect(server.headers[1].get("authorization")).toBe("Bearer secret");
  } finally {
    vi.unstubAllEnvs();
  }
});

test("createChatClient() refuses settings out of range, and a cost limit without prices", () => {
  const make = (more: Partial<ChatClientOptions>) => () => client("http://localhost:1/v1", more);
  expect(make({ limits: { maxCostUsd: 5 } })).toThrow(/--price IN,OUT/);
  for (
    const more of [
      { limits: { maxCostUsd: 5 } },
      { limits: { maxCalls: -1 } },
      { limits: { maxCalls: 1.5 } },
      { concurrency: 0 },
      { retries: -1 },
      { timeoutMs: 0 },
    ]
  ) {
    expect(make(more)).toThrow(RangeError);
  }
});
