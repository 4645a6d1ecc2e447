import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ChatServer, chatServer, failure, type PostedRequest } from "../api/chat_server.ts";
import { type Ended, killTree, runScript, startScript, temporaryFolder, until } from "./processes.ts";
import { COUNTRIES, HELPFUL_WORD, searchModel, writeData } from "./search_model.ts";

/** 40 % of the questions. */
const TEST_ITEMS = COUNTRIES * 0.4;
/** Calls at a time that a cell may make. */
const CONCURRENCY = 8;
/** First population, 10 steps, one generation, 2 steps. */
const ROLLOUTS = "560";
const SLOW = 120_000;

interface Place {
  data: string;
  out: string;
  server?: ChatServer | string;
  env?: Record<string, string>;
}

function place(server?: ChatServer | string): Place {
  const folder = temporaryFolder();
  return { data: writeData(join(folder, "data")), out: join(folder, "results"), server };
}

/** Arguments of `reproduce` and its environment, without any key or address of the machine that runs the tests. */
function command({ data, out, server, env }: Place, args: readonly string[]): Parameters<typeof startScript> {
  const url = typeof server === "string" ? server : server?.baseUrl ?? "";
  return [
    "reproduce",
    ["inspo", "--scale", "api", "--model", "scripted", "--data", data, "--out", out, ...args],
    {
      OPENAI_BASE_URL: url,
      OPENAI_API_KEY: "",
      COEVO_REFLECTOR_MODEL: "scripted",
      COEVO_SHARED: join(out, "none"),
      ...env,
    },
  ];
}

function reproduce(where: Place, ...args: string[]): Promise<Ended> {
  return runScript(...command(where, args));
}

/** Directory of a cell; the folder's suffix names model, data and budget. */
function directoryOf({ out }: Place, arm: string, seed = 1): string {
  const scale = join(out, "inspo/api");
  const folder = [...Deno.readDirSync(scale)].map(({ name }) => name).find((name) => name.startsWith(`${arm}@`));
  return join(scale, folder ?? arm, `seed-${seed}`);
}

function lines(...path: string[]): Record<string, unknown>[] {
  const file = join(...path);
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

const bodyOf = (request: PostedRequest) => JSON.stringify(request);

interface JsonSummary {
  results: { rows: { arm: string; cells: Record<string, { mean: number; items: number }> }[] };
  claims: { claims: { id: string; estimate: number; verdict: string }[] };
}

function summaryOf({ stdout }: Ended): JsonSummary {
  return JSON.parse(stdout)[0];
}

test(
  "reproduce --scale api evolves an instruction around a model behind HTTP, and records every item and call",
  async () => {
    // The first replies wait for each other, and a little longer: so more than allowed would be seen.
    const together = Promise.withResolvers<void>();
    await using server = chatServer(async (request, index) => {
      if (index === CONCURRENCY - 1) setTimeout(together.resolve, 50);
      await together.promise;
      return searchModel(request);
    });
    const where = place(server);
    const ended = await reproduce(where, "--rollouts", ROLLOUTS, "--jobs", "1");
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/text-alone +inconclusive/) });
    expect(ended.stdout.replace(/\s+/g, " ")).toContain(`Over the ${TEST_ITEMS} items of seed 1: +0.`);
    expect(server.mostAtOnce).toBe(CONCURRENCY);
    expect(readFileSync(join(where.out, "inspo/api/report.html"), "utf8")).toContain(HELPFUL_WORD);

    const fixed = directoryOf(where, "static-instruction");
    expect(lines(fixed, "journal.jsonl").map(({ type }) => type)).toEqual(["start", "evaluation", "finish"]);
    const evolving = directoryOf(where, "inspo-no-rl");
    const items = [fixed, evolving].map((directory) =>
      lines(directory, "samples.jsonl").filter(({ step }) => step === 0).map(({ item }) => item)
    );
    expect(items[0].length).toBe(TEST_ITEMS);
    expect(items[1]).toEqual(items[0]);
    const paid = [fixed, evolving].map((directory) => lines(directory, "calls.jsonl").length);
    expect(paid[0] + paid[1]).toBe(server.requests.length);

    const events = lines(evolving, "journal.jsonl").filter(({ type }) => type === "event");
    const refused = events.filter(({ name }) => name === "candidate-refused").map(({ data }) =>
      (data as { reason: string }).reason
    );
    expect(refused).toEqual(["unclosed <answer>", "</answer> without <answer>"]);
    const checks = events.filter(({ name }) => name === "verification").map(({ data }) =>
      (data as { samples: number }).samples
    );
    expect(new Set(checks)).toEqual(new Set([TEST_ITEMS]));

    const again = await reproduce(where, "--rollouts", ROLLOUTS, "--json");
    expect(server.requests.length).toBe(paid[0] + paid[1]);
    const { results, claims } = summaryOf(again);
    const em = Object.fromEntries(results.rows.map(({ arm, cells }) => [arm, cells["em-greedy"]]));
    expect(em["static-instruction"].mean).toBeLessThan(0.6);
    expect(em["inspo-no-rl"]).toMatchObject({ mean: 1, items: TEST_ITEMS });
    expect(results.rows.map(({ cells }) => cells.calls.mean)).toEqual(paid);
    expect(claims.claims[0].estimate).toBeCloseTo(1 - em["static-instruction"].mean, 10);
  },
  SLOW,
);

test.each([["before its first checkpoint", 60], ["in its third step", 330]])(
  "reproduce --scale api, killed %s, pays for no reply twice and ends as if it had not been killed",
  async (_, replies) => {
    const arm = ["--arms", "inspo-no-rl", "--rollouts", "300"];
    await using whole = chatServer(searchModel);
    const undisturbed = place(whole);
    const expected = await reproduce(undisturbed, ...arm, "--json");

    // Replies that were on their way when a process was killed cannot be told from this: so none is on its way.
    await using first = chatServer((request, index) => index < replies ? searchModel(request) : { kind: "hang" });
    const where = place(first);
    const killed = startScript(...command(where, arm));
    await until(
      "all replies are logged",
      () =>
        existsSync(join(where.out, "inspo/api")) &&
        lines(directoryOf(where, "inspo-no-rl"), "calls.jsonl").length === replies,
    );
    killTree(killed.child);
    await killed.ended;

    await using second = chatServer(searchModel);
    const ended = await reproduce({ ...where, server: second }, ...arm, "--json");
    expect(ended.code).toBe(0);
    const paid = [...first.requests.slice(0, replies), ...second.requests].map(bodyOf);
    expect(new Set(paid).size).toBe(paid.length);
    expect(paid.sort()).toEqual(whole.requests.map(bodyOf).sort());
    expect(ended.stdout).toBe(expected.stdout);
    for (const file of ["journal.jsonl", "samples.jsonl"]) {
      const [is, was] = [where, undisturbed].map((each) =>
        readFileSync(join(directoryOf(each, "inspo-no-rl"), file), "utf8")
      );
      expect(is).toBe(was);
    }
  },
  SLOW,
);

test("reproduce --scale api --max-calls stops before the next call, and goes on with a higher limit", async () => {
  await using server = chatServer(searchModel);
  const where = place(server);
  const arm = ["--arms", "inspo-no-rl", "--rollouts", "100"];
  const stopped = await reproduce(where, ...arm, "--max-calls", "50");
  expect(stopped).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/50 of at most 50 are used; raise --max-calls and run the same command again/),
  });
  expect(server.requests.length).toBe(50);
  expect(await reproduce(where, ...arm, "--max-calls", "5000")).toMatchObject({ code: 0 });
  expect(new Set(server.requests.map(bodyOf)).size).toBe(server.requests.length);
}, SLOW);

test(
  "reproduce --scale api stops at a used-up budget also where the reflector asks, and does not go on without it",
  async () => {
    await using server = chatServer(searchModel);
    const where = place(server);
    // Every evaluation call comes first; the next one is the reflection.
    const stopped = await reproduce(
      where,
      "--arms",
      "inspo-no-rl",
      "--rollouts",
      "100",
      "--max-calls",
      `${TEST_ITEMS * 2}`,
    );
    expect(stopped).toMatchObject({ code: 1, stderr: expect.stringContaining("raise --max-calls") });
    expect(lines(directoryOf(where, "inspo-no-rl"), "journal.jsonl").filter(({ type }) => type === "event")).toEqual(
      [],
    );
  },
  SLOW,
);

test("reproduce --scale api --max-cost stops once the money is spent", async () => {
  await using server = chatServer(searchModel);
  // 10 tokens in and 5 out a call: 0.02 USD.
  const limit = ["--price", "1000,2000", "--max-cost", "0.5"];
  const stopped = await reproduce(place(server), "--arms", "inspo-no-rl", "--rollouts", "100", ...limit);
  expect(stopped).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/of at most 0.5 USD are spent; raise --max-cost/),
  });
  expect(server.requests.length).toBeGreaterThanOrEqual(25);
  expect(server.requests.length).toBeLessThan(25 + CONCURRENCY);
}, SLOW);

test("reproduce --scale api names the variable where the key is wrong", async () => {
  await using server = chatServer([failure(401)]);
  const ended = await reproduce(place(server), "--arms", "static-instruction");
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/failed: .*401.*OPENAI_API_KEY/) });
}, SLOW);

test("reproduce --scale api says that the server fails, with exit code 3, and goes on when it is back", async () => {
  await using failing = chatServer((request, index) => index < 20 ? searchModel(request) : failure(503));
  const where = place(failing);
  const ended = await reproduce(where, "--arms", "static-instruction");
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/failed: .*503.*\(5 tries\)/) });
  await using server = chatServer(searchModel);
  expect(await reproduce({ ...where, server }, "--arms", "static-instruction")).toMatchObject({ code: 0 });
  const paid = lines(directoryOf(where, "static-instruction"), "calls.jsonl").length;
  expect(server.requests.length).toBe(paid - 20);
}, SLOW);

test("reproduce --scale api with cells in parallel gives the journals of cells one after another", async () => {
  await using server = chatServer(searchModel);
  const [one, two] = [place(server), place(server)];
  const args = ["--rollouts", "100", "--seeds", "2"];
  expect(await reproduce(one, ...args, "--jobs", "1")).toMatchObject({ code: 0 });
  expect(await reproduce(two, ...args, "--jobs", "4")).toMatchObject({ code: 0 });
  for (const arm of ["static-instruction", "inspo-no-rl"]) {
    for (const seed of [1, 2]) {
      const [a, b] = [one, two].map((where) =>
        readFileSync(join(directoryOf(where, arm, seed), "journal.jsonl"), "utf8")
      );
      expect(b).toBe(a);
    }
  }
}, SLOW);

test(
  "reproduce --scale api --reflector replay:FILE writes the recorded run's journal without asking for instructions",
  async () => {
    await using server = chatServer(searchModel);
    const where = place(server);
    const recording = join(where.out, "recording");
    const args = ["--arms", "inspo-no-rl", "--rollouts", "100"];
    expect(await reproduce(where, ...args, "--record", recording)).toMatchObject({ code: 0 });
    const replaying = { ...where, out: join(where.out, "replay") };
    const asked = server.requests.length;
    expect(await reproduce(replaying, ...args, "--reflector", `replay:${recording}`)).toMatchObject({ code: 0 });
    expect(server.requests.slice(asked).filter(({ response_format }) => response_format !== undefined)).toEqual([]);
    const [was, is] = [where, replaying].map((each) => lines(directoryOf(each, "inspo-no-rl"), "journal.jsonl"));
    expect(is.slice(1)).toEqual(was.slice(1));
  },
  SLOW,
);

test("reproduce --scale api --plan estimates calls and dollars, asks nobody and writes nothing", async () => {
  await using server = chatServer(searchModel);
  const where = place(server);
  const { code, stdout } = await reproduce(where, "--plan", "--price", "1,10", "--max-calls", "9000");
  expect(code).toBe(0);
  expect(stdout).toMatch(/calls +static-instruction: about 48, at most 80, for 16 trajectories\n/);
  expect(stdout).toMatch(/inspo-no-rl: about 18,2\d\d, at most 30,3\d\d, for 6,064 trajectories and 1\d reflections/);
  expect(stdout).toMatch(/cost +about \$30\.\d\d, at most \$218\.\d\d, with --price 1,10\nbasis/);
  expect(stdout).toContain("each cell stops after 9,000 calls");
  expect(server.requests).toEqual([]);
  expect(existsSync(where.out)).toBe(false);
}, SLOW);

/** What a user can get wrong before anything is asked of the model: arguments, and what is changed about the place. */
const MISTAKES: [string, string[], RegExp, (where: Place) => Place][] = [
  ["no model", ["--model="], /^--model "": needs a value/, (where) => where],
  [
    "no endpoint",
    [],
    /^Cannot call "scripted": set OPENAI_API_KEY, or OPENAI_BASE_URL/,
    (where) => ({ ...where, server: undefined }),
  ],
  [
    "no key for another machine",
    [],
    /^Cannot call "scripted" at https:\/\/example\.org: .*OPENAI_API_KEY/,
    (where) => ({
      ...where,
      server: "https://example.org/v1",
    }),
  ],
  ["a cost limit without prices", ["--max-cost", "1"], /^--max-cost needs --price IN,OUT/, (where) => where],
  [
    "the micro world's reflector",
    ["--reflector", "offline"],
    /^--reflector offline knows the micro world's words only/,
    (where) => where,
  ],
  [
    "a recording that is not there",
    ["--reflector", "replay:nowhere"],
    /^--reflector replay: there is no nowhere\.inspo-no-rl\.seed-1\.jsonl/,
    (where) => where,
  ],
  ["a folder without corpus", [], /^--data .*: there is no .*corpus\.jsonl/, (where) => {
    Deno.removeSync(join(where.data, "corpus.jsonl"));
    return where;
  }],
  ["a malformed question", [], /questions\.jsonl:3: field golden_answers: /, (where) => {
    const path = join(where.data, "questions.jsonl");
    const rows = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, rows.with(2, JSON.stringify({ id: "x", question: "Who?" })).join("\n"));
    return where;
  }],
  ["a malformed paragraph", [], /corpus\.jsonl", line 1: not JSON/, (where) => {
    writeFileSync(join(where.data, "corpus.jsonl"), "{\n");
    return where;
  }],
  ["too few questions", [], /^Cannot split 29 questions: at least 30 are needed/, (where) => {
    const path = join(where.data, "questions.jsonl");
    writeFileSync(path, readFileSync(path, "utf8").split("\n").slice(0, 29).join("\n"));
    return where;
  }],
  ["a question twice", [], /the id "q0" occurs twice/, (where) => {
    const path = join(where.data, "questions.jsonl");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text + text.split("\n")[0]);
    return where;
  }],
];

test.each(MISTAKES)(
  "reproduce --scale api ends with one line and exit code 2: %s",
  async (_, args, message, change) => {
    const where = change(place("http://127.0.0.1:9/v1"));
    const [script, words, env] = command(where, args);
    const given = args.some((arg) => arg.startsWith("--model"))
      ? words.filter((word, index) => word !== "--model" && words[index - 1] !== "--model")
      : words;
    const ended = await runScript(script, given, env);
    expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
    expect(ended.stderr.trim().split("\n").length).toBe(1);
  },
);

test("reproduce --scale api without data, or with other questions than the panel's, ends with one line and exit code 2", async () => {
  const { data, out } = place();
  const shared = join(out, "shared");
  const env = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1", COEVO_SHARED: shared };
  const run = () => runScript("reproduce", ["inspo", "--scale", "api", "--model", "scripted", "--out", out], env);
  const without = await run();
  expect(without).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^scale api needs real questions.*--data DIR.*COEVO_SHARED\n$/),
  });

  const folder = join(shared, "data/qa");
  mkdirSync(folder, { recursive: true });
  for (const name of ["questions", "corpus"]) {
    Deno.copyFileSync(join(data, `${name}.jsonl`), join(folder, `hotpot500_${name}.jsonl`));
  }
  expect(await run()).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^Panel hotpotqa-500 has the question "[0-9a-f]+", which the data does not have.*\n$/,
    ),
  });
});

test("reproduce --scale api asks for --model in one line", async () => {
  const { data, out } = place();
  const env = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
  expect(await runScript("reproduce", ["inspo", "--scale", "api", "--data", data, "--out", out], env)).toMatchObject({
    code: 2,
    stderr: "scale api needs --model NAME: the model as its server calls it\n",
  });
});
