import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findRuns, runDirectory, variantOf } from "../../lib/record/run_directory.ts";
import { temporaryFolder } from "./temporary_folder.ts";

const place = { out: "results", recipe: "inspo", scale: "micro", arm: "search-r1-grpo", seed: 3 };
const armFolder = (variant: Record<string, string | number>) => basename(dirname(runDirectory({ ...place, variant })));

test("runDirectory() follows the design's layout", () => {
  expect(runDirectory(place)).toBe(join("results", "inspo", "micro", "search-r1-grpo", "seed-3"));
  expect(runDirectory({ ...place, variant: { lr: 1e-6, budget: 800 } })).toBe(
    join("results", "inspo", "micro", "search-r1-grpo@budget=800,lr=0.000001", "seed-3"),
  );
});

test("runDirectory() sorts the settings and keeps their values in one folder's name", () => {
  const variant = { model: "Qwen/Qwen2.5-3B", "a,b": "x=y@z", base: "../../etc", star: "*('~')!" };
  const name = armFolder(variant);
  expect(name).toMatch(/^search-r1-grpo@[A-Za-z0-9%=,._-]+$/);
  expect(name).toBe(armFolder(Object.fromEntries(Object.entries(variant).reverse())));
  expect(name).toContain("model=Qwen%2FQwen2.5-3B");
});

test("runDirectory() gives different values different folders", () => {
  const long = "m".repeat(200);
  const values = ["a/b", "a-b", "a_b", "a%2Fb", "a b", "", long, `${long}2`, "1", "ü"];
  expect(new Set(values.map((model) => armFolder({ model }))).size).toBe(values.length);
});

test("runDirectory() keeps a long value within a folder name's limit", () => {
  expect(armFolder({ model: `/a/${"very-long/".repeat(60)}` }).length).toBeLessThan(255);
});

test.each(["", "..", "a/b", "a@b", ".hidden"])("runDirectory() refuses %j as an arm", (arm) => {
  expect(() => runDirectory({ ...place, arm })).toThrow(RangeError);
});

test("variantOf() gives the settings back in readable form", () => {
  expect(variantOf(armFolder({ model: "Qwen/Qwen2.5-3B", lr: 0.1 }))).toBe("lr=0.1,model=Qwen/Qwen2.5-3B");
  expect(variantOf("grpo")).toBe("");
});

test("findRuns() lists the runs in order, and neither superseded ones nor other files", async () => {
  const out = temporaryFolder();
  const add = (path: string, file = "config.json") => {
    mkdirSync(join(out, path), { recursive: true });
    writeFileSync(join(out, path, file), "{}");
  };
  add("p2o/micro/gepa/seed-1");
  add("inspo/micro/inspo@lr=0.1/seed-2");
  add("inspo/micro/inspo/seed-10");
  add("superseded/inspo/micro/inspo/seed-1.1");
  add("superseded/inspo/micro/seed-1");
  add("inspo/micro/inspo/seed-4", "journal.jsonl");
  add("inspo/micro", "report.html");
  add("inspo/micro/inspo/notes");
  add(".store/a/b/seed-1");
  expect(await findRuns(out)).toEqual(
    ["inspo/micro/inspo/seed-10", "inspo/micro/inspo@lr=0.1/seed-2", "p2o/micro/gepa/seed-1"].map((run) => ({
      run,
      directory: join(out, run),
    })),
  );
});

test("findRuns() finds nothing in a folder that does not exist", async () => {
  expect(await findRuns(join(temporaryFolder(), "none"))).toEqual([]);
});
