import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contentOf, runScript, temporaryFolder } from "./processes.ts";

test.each([
  [["inspoo"], 'unknown recipe "inspoo"; did you mean inspo? There are: inspo'],
  [["__proto__"], 'unknown recipe "__proto__". There are: '],
  [["--seeds", "1"], "give the recipe first: deno task reproduce inspo --seeds 1"],
  [["inspo", "--arms", "insop"], 'unknown arm "insop"; did you mean inspo? There are: '],
  [["inspo", "--scale", "mirco"], 'unknown scale "mirco"; did you mean micro? There are: micro'],
  [["inspo", "--sedes", "1"], 'unknown flag "--sedes"; did you mean --seeds? There are: '],
  [["inspo", "--seeds", "0"], '--seeds "0": needs N (seeds 1 to N), A..B, or a list A,B,…'],
  [["inspo", "--rollouts", "many"], '--rollouts "many": needs a whole number of at least 1'],
  [["inspo", "--model", "gpt"], "--model: scale micro has one model of its own; --scale api takes a model"],
  [["inspo", "rsipo"], 'unexpected "rsipo": give one recipe, then flags'],
])("reproduce %j exits with 2, one line on standard error and nothing else", async (args, message) => {
  const out = join(temporaryFolder(), "results");
  const { code, stdout, stderr } = await runScript("reproduce", [...args, "--out", out]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr.match(/\n/g)).toHaveLength(1);
  expect(existsSync(out)).toBe(false);
});

test("reproduce with a recording that is not there exits with 2 and one line before any cell is made", async () => {
  const out = temporaryFolder();
  const args = ["inspo", "--arms", "inspo", "--reflector", "replay:absent", "--out", out];
  const { code, stdout, stderr } = await runScript("reproduce", args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^--reflector replay: there is no absent\.inspo\.seed-1\.jsonl .*\n$/);
  expect(Object.keys(contentOf(out))).toEqual([]);
});

test("reproduce without a recipe prints its help and exits with 2, with --help with 0", async () => {
  const without = await runScript("reproduce", []);
  const help = await runScript("reproduce", ["inspo", "--help"]);
  expect([without.code, help.code]).toEqual([2, 0]);
  expect(help.stdout).toContain("--rollouts N");
  expect(without.stdout).toBe(help.stdout);
});

test("reproduce --plan says what would be run and writes nothing", async () => {
  const out = join(temporaryFolder(), "results");
  const { code, stdout, stderr } = await runScript("reproduce", ["inspo", "--plan", "--seeds", "2", "--out", out]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("8: 4 arms × 2 seeds (1, 2)");
  expect(stdout).toContain("8 to run");
  expect(existsSync(out)).toBe(false);
});

test.each([[{ NO_COLOR: "1" }], [{}], [{ TERM: "xterm-256color" }]])(
  "reproduce writes no escape code to what is no terminal, with %j",
  async (env) => {
    const out = temporaryFolder();
    const args = ["inspo", "--arms", "search-r1-grpo", "--seeds", "1", "--rollouts", "64", "--out", out];
    const { code, stdout, stderr } = await runScript("reproduce", args, env);
    expect(code).toBe(0);
    // deno-lint-ignore no-control-regex
    expect(stdout + stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    expect(stdout).toContain("search-r1-grpo");
    expect(stderr).toContain("finished after");
  },
);

test.each([
  [["rebild"], 'unknown action "rebild"; did you mean rebuild? There are: rebuild, info, query'],
  [["query"], "give one query, in quotes"],
  [["rebuild", "more"], 'unexpected "more": rebuild takes no more than --out DIR'],
  [["query", "selct 1"], 'syntax error at or near "selct"'],
])("store %j exits with 2 and one line", async (args, message) => {
  const out = temporaryFolder();
  expect(await runScript("store", ["rebuild", "--out", out])).toMatchObject({ code: 0 });
  const { code, stdout, stderr } = await runScript("store", [...args, "--out", out]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr.match(/\n/g)).toHaveLength(1);
});

test("store on a folder that is not there exits with 2 and does not make it", async () => {
  const folder = temporaryFolder();
  for (const args of [["rebuild"], ["info"], ["query", "select 1"]]) {
    const { code, stderr } = await runScript("store", [...args, "--out", join(folder, "absent")]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^there is no folder "[^"]+"; --out DIR names the results\n$/);
  }
  expect(readdirSync(folder)).toEqual([]);
});

test("store info and query on a folder without a store say how it is made", async () => {
  const { code, stderr } = await runScript("store", ["query", "select 1", "--out", temporaryFolder()]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^Cannot read "[^"]+coevo\.duckdb": there is no such file; `deno task store rebuild` .*\n$/);
});
