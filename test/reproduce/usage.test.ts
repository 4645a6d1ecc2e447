import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REPRODUCE_FLAGS } from "../../lib/recipe/reproduce_options.ts";
import { recipe } from "../../recipes/inspo/recipe.ts";
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

test("reproduce without a recipe prints its help and exits with 2, with --help or -h with 0", async () => {
  const without = await runScript("reproduce", []);
  const help = await runScript("reproduce", ["--help"]);
  expect([without.code, help.code]).toEqual([2, 0]);
  expect(without.stdout).toBe(help.stdout);
  expect(await runScript("reproduce", ["inspo", "-h"])).toEqual(await runScript("reproduce", ["inspo", "--help"]));
});

test("reproduce --help has flags, an example, the recipe's defaults, the environment and the exit codes", async () => {
  const { code, stdout } = await runScript("reproduce", ["inspo", "--help"]);
  expect(code).toBe(0);
  for (const flag of Object.keys(REPRODUCE_FLAGS)) expect(stdout).toContain(`  --${flag} `);
  expect(stdout).toMatch(/^Example: deno task reproduce inspo /m);
  for (const { name, defaultArms } of Object.values(recipe.scales)) {
    expect(stdout).toContain(`--scale ${name} --arms ${defaultArms.join(",")} --seeds 1`);
  }
  for (const name of ["OPENAI_API_KEY", "OPENAI_BASE_URL", "COEVO_REFLECTOR_MODEL", "COEVO_SHARED", "NO_COLOR"]) {
    expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
  }
  expect(stdout).toMatch(/^Exit codes: 0 .*, 1 .*, 2 .*, 3 .*,\n {2}130 and 143 /m);
  expect(stdout.split("\n").every((line) => line.length <= 120)).toBe(true);
});

test("recipes/inspo/recipe.ts is a script of its own: reproduce with this recipe", async () => {
  const out = join(temporaryFolder(), "results");
  const script = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "recipes/inspo/recipe.ts", "--plan", "--seeds", "2", "--out", out],
  });
  const { code, stdout } = await script.output();
  const plan = await runScript("reproduce", ["inspo", "--plan", "--seeds", "2", "--out", out]);
  expect({ code, stdout: new TextDecoder().decode(stdout) }).toEqual({ code: 0, stdout: plan.stdout });
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

test.each(
  [
    ["store", ["rebuild", "info", "query"]],
    ["bench", ["engine", "retrieval", "cell"]],
    ["golden", ["qa-em", "stats"]],
  ] as const,
)("%s without arguments says on standard error what there is and exits with 2", async (name, choices) => {
  const { code, stdout, stderr } = await runScript(name, []);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  for (const choice of choices) expect(stderr).toContain(choice);
  expect(stderr).not.toContain("unknown");
});

test.each(
  [
    ["bench", ["engin"], 'unknown bench "engin"; did you mean engine?'],
    ["train_base", ["--wirte"], 'unknown flag "--wirte"; did you mean --write?'],
    ["train_base", ["write"], "usage: deno task train-base [--write]"],
  ] as const,
)("%s %j exits with 2 and one line", async (name, args, message) => {
  const { code, stdout, stderr } = await runScript(name, args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr.match(/\n/g)).toHaveLength(1);
});
