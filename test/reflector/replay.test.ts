import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type Reflection,
  type ReflectionRequest,
  type Reflector,
  ReflectorError,
} from "../../lib/reflector/reflector.ts";
import { recordingReflector, replayReflector } from "../../lib/reflector/replay.ts";
import { failureFor, requestFor } from "./requests.ts";

function temporaryFile(): string {
  return join(mkdtempSync(join(tmpdir(), "coevo-")), "recording.jsonl");
}

function reflectionOn({ seed }: ReflectionRequest, note = ""): Reflection {
  return {
    candidates: [{ instruction: `é “${seed}”${note}\n<answer> x </answer>`, diagnosis: "d\u2028" }],
    calls: 1,
    usage: { inputTokens: 3, outputTokens: 4, costUsd: seed === 1 ? null : 0.1 + 0.2 },
  };
}

/** Answers every request but those with seed 2, where it fails. */
const inner: Reflector = {
  name: "openai:m",
  reflect: (request) =>
    request.seed === 2
      ? Promise.reject(new ReflectorError("too slow", "timeout"))
      : Promise.resolve(reflectionOn(request)),
};

async function reflectAll(reflector: Reflector, seeds: readonly number[]): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (const seed of seeds) {
    outcomes.push(
      await reflector.reflect(requestFor(seed)).catch((error) => [error.name, error.reason, error.message]),
    );
  }
  return outcomes;
}

test("replayReflector() answers as the recorded reflector did, failures included, and records to the same bytes", async () => {
  const [original, copy] = [temporaryFile(), temporaryFile()];
  const recorded = await reflectAll(recordingReflector(inner, original), [1, 2, 3]);
  const replaying = recordingReflector(replayReflector(original), copy);
  expect(replaying.name).toBe("openai:m");
  expect(await reflectAll(replaying, [1, 2, 3])).toEqual(recorded);
  expect(recorded[1]).toEqual(["ReflectorError", "timeout", "too slow"]);
  expect(recorded[2]).toEqual(reflectionOn(requestFor(3)));
  expect(readFileSync(copy)).toEqual(readFileSync(original));
  expect(readFileSync(original, "utf8").trim().split("\n").length).toBe(3);
});

test("replayReflector() stops the run behind the last line", async () => {
  const path = temporaryFile();
  await reflectAll(recordingReflector(inner, path), [1]);
  expect(await reflectAll(replayReflector(path), [1, 3])).toEqual([
    reflectionOn(requestFor(1)),
    ["Error", undefined, expect.stringMatching(/request 2 is behind its last line, 1; .*record again/)],
  ]);
});

test.each<[string, Partial<ReflectionRequest>]>([
  ["seed (1 recorded, 9 asked)", { seed: 9 }],
  ["candidates (3 recorded, 4 asked)", { candidates: 4 }],
  ["constraints", { constraints: [] }],
  ["parents 1 of 1", { parents: ["Answer at length."] }],
  ["number of failures (1 recorded, 0 asked)", { failures: [] }],
  ["failures 1 of 1", { failures: [failureFor("Question 1?", { transcript: "other" })] }],
])("replayReflector() refuses another request and names the difference: %s", async (difference, change) => {
  const path = temporaryFile();
  await reflectAll(recordingReflector(inner, path), [1]);
  const error = await replayReflector(path).reflect({ ...requestFor(1), ...change }).catch((error) => error);
  expect(error).not.toBeInstanceOf(ReflectorError);
  expect(error.message).toContain(`line 1 in ${difference}; `);
});

test("replayReflector() keeps the order, unless it resumes", async () => {
  const path = temporaryFile();
  await reflectAll(recordingReflector(inner, path), [1, 3, 4]);
  expect(await reflectAll(replayReflector(path), [3])).toEqual([[
    "Error",
    undefined,
    expect.stringContaining("line 1"),
  ]]);
  expect(await reflectAll(replayReflector(path, { resumed: true }), [3, 4])).toEqual(
    [3, 4].map((seed) => reflectionOn(requestFor(seed))),
  );
});

test("replayReflector() ignores fields of a failure that are not part of the interface", async () => {
  const path = temporaryFile();
  await reflectAll(recordingReflector(inner, path), [1]);
  const failures = requestFor(1).failures.map((failure) => ({ step: 3, ...failure }));
  expect(await replayReflector(path).reflect({ ...requestFor(1), failures })).toEqual(reflectionOn(requestFor(1)));
});

test("recordingReflector() writes in the order of the requests, whichever answer comes first", async () => {
  const path = temporaryFile();
  const resolvers: (() => void)[] = [];
  const slow: Reflector = {
    name: "slow",
    reflect: (request) => new Promise((resolve) => resolvers.push(() => resolve(reflectionOn(request)))),
  };
  const reflector = recordingReflector(slow, path);
  const asked = [1, 3].map((seed) => reflector.reflect(requestFor(seed)));
  resolvers[1]();
  await new Promise((resolve) => setTimeout(resolve, 1));
  resolvers[0]();
  await Promise.all(asked);
  expect(await reflectAll(replayReflector(path), [1, 3])).toEqual([1, 3].map((seed) => reflectionOn(requestFor(seed))));
});

test("recordingReflector() does not write over a recording; a resumed run drops what it does again", async () => {
  const path = temporaryFile();
  await reflectAll(recordingReflector(inner, path), [1, 3, 4]);
  expect(() => recordingReflector(inner, path)).toThrow(/holds a recording already/);
  const changed: Reflector = {
    name: "openai:m",
    reflect: (request) => Promise.resolve(reflectionOn(request, "again")),
  };
  await reflectAll(recordingReflector(changed, path, { resumed: true }), [3, 5]);
  expect(await reflectAll(replayReflector(path), [1, 3, 5])).toEqual([
    reflectionOn(requestFor(1)),
    reflectionOn(requestFor(3), "again"),
    reflectionOn(requestFor(5), "again"),
  ]);
});

test("replayReflector() reads a recording with a torn end, and names a damaged line", async () => {
  const path = temporaryFile();
  await reflectAll(recordingReflector(inner, path), [1]);
  const whole = readFileSync(path, "utf8");
  writeFileSync(path, whole + whole.slice(0, 40));
  expect(await reflectAll(replayReflector(path), [1])).toEqual([reflectionOn(requestFor(1))]);
  appendFileSync(path, "\n");
  expect(() => replayReflector(path)).toThrow(/line 2 of/);
  expect(() => replayReflector(temporaryFile())).toThrow(/absent or empty/);
});
