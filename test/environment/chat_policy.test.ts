import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCallLog } from "../../lib/api/call_log.ts";
import { type ChatClientOptions, createChatClient } from "../../lib/api/chat_client.ts";
import { chatPolicy } from "../../lib/environment/chat_policy.ts";
import type { Context, Policy } from "../../lib/environment/policy.ts";
import { chatServer, failure, reply, type Step } from "../api/chat_server.ts";

function policyAt(baseUrl: string, more: Partial<ChatClientOptions> = {}): Policy {
  return chatPolicy(
    createChatClient({ model: "m", baseUrl, timeoutMs: 1_000, retries: 0, concurrency: 2, limits: {}, ...more }),
  );
}

function contextOf(question: string, segments: Context["segments"] = []): Context {
  return { prompt: [{ role: "user", content: question }], segments };
}

const STOP = ["</search>", "</answer>"];

/** What the policy makes of one reply. */
async function written(
  step: Step,
  stop: readonly string[] | undefined = STOP,
): Promise<{ text: string; finish?: string }> {
  await using server = chatServer([step]);
  const [segment] = await policyAt(server.baseUrl).generate([contextOf("q")], {
    maxTokens: 9,
    temperature: 0,
    stop,
    seeds: [1],
  });
  return { text: segment.text, finish: segment.finish };
}

test("chatPolicy() sends a context as alternating turns, with sampling options and seed", async () => {
  await using server = chatServer([reply("<answer> Paris </answer>")]);
  const context = contextOf("Capital?", [
    { by: "policy", text: "<search> a </search>" },
    { by: "environment", text: "<information> b" },
    { by: "environment", text: " c</information>" },
    { by: "policy", text: "hm" },
    { by: "environment", text: "" },
  ]);
  const segments = await policyAt(server.baseUrl).generate([context], {
    maxTokens: 9,
    temperature: 0.7,
    topP: 0.9,
    stop: STOP,
    seeds: [42],
  });
  expect(segments).toEqual([{ by: "policy", text: "<answer> Paris </answer>", finish: "stop" }]);
  expect(server.requests).toEqual([{
    model: "m",
    messages: [
      { role: "user", content: "Capital?" },
      { role: "assistant", content: "<search> a </search>" },
      { role: "user", content: "<information> b c</information>" },
      { role: "assistant", content: "hm" },
    ],
    max_tokens: 9,
    temperature: 0.7,
    top_p: 0.9,
    stop: STOP,
    seed: 42,
  }]);
});

test.each<[string, Step, string, string]>([
  [
    "restores the stop text that the server dropped",
    reply("<think>x</think> <search> q "),
    "<think>x</think> <search> q </search>",
    "stop",
  ],
  [
    "restores the tag that was opened last",
    reply("not <search> but <answer> a"),
    "not <search> but <answer> a</answer>",
    "stop",
  ],
  ["leaves a reply without open tag alone", reply("I do not know."), "I do not know.", "stop"],
  ["leaves a tag alone that no stop text closes", reply("<think> x"), "<think> x", "stop"],
  [
    "does not close what was cut off at the token limit",
    reply("<search> q", { finish: "length" }),
    "<search> q",
    "length",
  ],
  [
    "cuts behind the first stop text where the server ignored it",
    reply("<search> q </search> <information> made up </information> <answer> a </answer>"),
    "<search> q </search>",
    "stop",
  ],
  [
    "cuts at a stop text also in a reply of full length",
    reply("<answer> a </answer> and on", { finish: "length" }),
    "<answer> a </answer>",
    "stop",
  ],
  [
    "believes a server that tells the stop text",
    reply("<answer> a <search> b", { extra: { stop_reason: "</answer>" } }),
    "<answer> a <search> b</answer>",
    "stop",
  ],
  [
    "believes a server that tells there was none",
    reply("<answer> a", { extra: { stop_reason: null } }),
    "<answer> a",
    "stop",
  ],
  ["takes a refusal as the text", { kind: "reply", content: null, refusal: "I cannot." }, "I cannot.", "stop"],
])("chatPolicy() %s", async (_, step, text, finish) => {
  expect(await written(step)).toEqual({ text, finish });
});

test("chatPolicy() leaves the text as it is without stop texts", async () => {
  expect((await written(reply("<search> q </search> on <search> r"), [])).text).toBe(
    "<search> q </search> on <search> r",
  );
});

test("chatPolicy() does not send more than four stop texts, and cuts by itself", async () => {
  await using server = chatServer([reply("one e two"), reply("<a> open")]);
  const policy = policyAt(server.baseUrl);
  const options = { maxTokens: 9, temperature: 0, stop: ["</a>", "b!", "c!", "d!", "e"], seeds: [1] };
  expect((await policy.generate([contextOf("q")], options))[0].text).toBe("one");
  expect(server.requests[0].stop).toBeUndefined();
  // The server knew no stop text, so it dropped none.
  expect((await policy.generate([contextOf("r")], { ...options, stop: ["</a>", "b!", "c!", "d!", "e!"] }))[0].text)
    .toBe("<a> open");
});

test("chatPolicy() keeps the order of a batch, and a logged seed is not paid again", async () => {
  await using server = chatServer(async ({ messages, seed }) => {
    await new Promise((resolve) => setTimeout(resolve, messages[0].content === "0" ? 10 : 0));
    return reply(`${messages[0].content}/${seed}`);
  });
  const path = join(mkdtempSync(join(tmpdir(), "coevo-")), "calls.jsonl");
  const contexts = ["0", "1", "2", "0"].map((question) => contextOf(question));
  const ask = async (seeds: number[]) => {
    const policy = policyAt(server.baseUrl, { log: openCallLog(path) });
    return (await policy.generate(contexts, { maxTokens: 9, temperature: 1, seeds })).map(({ text }) => text);
  };
  expect(await ask([5, 6, 7, 8])).toEqual(["0/5", "1/6", "2/7", "0/8"]);
  expect(await ask([5, 6, 7, 8])).toEqual(["0/5", "1/6", "2/7", "0/8"]);
  expect(server.requests.length).toBe(4);
  expect(server.mostAtOnce).toBe(2);
  expect(await ask([5, 6, 7, 9])).toEqual(["0/5", "1/6", "2/7", "0/9"]);
  expect(server.requests.length).toBe(5);
});

test("chatPolicy() gives up the calls that were not sent when one fails", async () => {
  await using server = chatServer([failure(401)]);
  const contexts = Array.from({ length: 20 }, (_, n) => contextOf(`${n}`));
  const generating = policyAt(server.baseUrl).generate(contexts, {
    maxTokens: 9,
    temperature: 0,
    seeds: contexts.map((_, n) => n),
  });
  await expect(generating).rejects.toMatchObject({ name: "ChatError", reason: "rejected", status: 401 });
  // Two were under way; at most one more can have started before the failure was known.
  expect(server.requests.length).toBeLessThanOrEqual(3);
});

test("chatPolicy() refuses a batch without a seed for each context", async () => {
  const generating = policyAt("http://localhost:1/v1").generate([contextOf("q")], {
    maxTokens: 9,
    temperature: 0,
    seeds: [],
  });
  await expect(generating).rejects.toThrow(RangeError);
});

test("chatPolicy() observes without tokens and counts four characters as a token", async () => {
  const policy = policyAt("http://localhost:1/v1");
  expect(await policy.observe("seen")).toEqual({ by: "environment", text: "seen" });
  expect(await policy.shorten("123456789", 2)).toBe("12345678");
  expect(await policy.shorten("123", 2)).toBe("123");
});
