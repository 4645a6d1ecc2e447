import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { contentOf, type Ended, lastingContent, runScript, statusOf, temporaryFolder } from "./processes.ts";

const ARM = "search-r1-grpo";
const runDirectory = (out: string, rollouts = 128) => join(out, `inspo/micro/${ARM}@rollouts=${rollouts}/seed-1`);

/** One short cell: two steps, or as many as `rollouts` allow. */
function reproduce(out: string, more: readonly string[] = [], rollouts = 128): Promise<Ended> {
  const args = ["inspo", "--arms", ARM, "--seeds", "1", "--rollouts", `${rollouts}`, "--out", out, ...more];
  return runScript("reproduce", args);
}

let template: { out: string; first: Ended };
beforeAll(async () => {
  const out = mkdtempSync(join(tmpdir(), "coevo-test-"));
  template = { out, first: await reproduce(out) };
  expect(template.first).toMatchObject({ code: 0 });
});
afterAll(() => rmSync(template.out, { recursive: true, force: true }));

/** A results folder with one finished cell, and what was printed for it. */
function finishedCell(): { out: string; first: Ended } {
  const out = temporaryFolder();
  cpSync(template.out, out, { recursive: true });
  return { out, first: { ...template.first, stdout: template.first.stdout.replaceAll(template.out, out) } };
}

test("reproduce uses finished cells again: the same table, and no byte of the run changes", async () => {
  const { out, first } = finishedCell();
  const before = contentOf(runDirectory(out));
  const again = await reproduce(out);
  expect(again).toMatchObject({ code: 0, stdout: first.stdout });
  expect(again.stderr).toBe("1 of 1 cells are finished already and reused (--fresh runs them again)\n");
  expect(contentOf(runDirectory(out))).toEqual(before);
  expect((await reproduce(out, ["--plan"])).stdout).toContain("1 finished, reused");
});

test("reproduce with another budget goes to a folder of its own", async () => {
  const { out } = finishedCell();
  const before = contentOf(runDirectory(out));
  expect(await reproduce(out, [], 192)).toMatchObject({ code: 0 });
  expect(statusOf(runDirectory(out, 192))).toMatchObject({ state: "finished", budget: 192 });
  expect(contentOf(runDirectory(out))).toEqual(before);
  const { stdout } = await runScript("store", ["query", "select variant from runs order by all", "--out", out]);
  expect(stdout).toBe('{"variant":"rollouts=128"}\n{"variant":"rollouts=192"}\n');
});

test("reproduce sets a run of other settings aside, whole, and runs the cell again", async () => {
  const { out, first } = finishedCell();
  const path = join(runDirectory(out), "config.json");
  const config = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...config, hash: "0".repeat(64) }));
  const old = contentOf(runDirectory(out));
  expect((await reproduce(out, ["--plan"])).stdout).toContain("1 other settings, to be set aside and run");
  expect(contentOf(runDirectory(out))).toEqual(old);

  expect(await reproduce(out)).toMatchObject({ code: 0, stdout: first.stdout });
  expect(contentOf(join(out, "superseded", `inspo/micro/${ARM}@rollouts=128/seed-1.1`))).toEqual(old);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(config);
});

test("reproduce --fresh runs finished cells again and keeps every old run", async () => {
  const { out, first } = finishedCell();
  const old = contentOf(runDirectory(out));
  expect(await reproduce(out, ["--fresh"])).toMatchObject({ code: 0, stdout: first.stdout });
  expect(await reproduce(out, ["--fresh"])).toMatchObject({ code: 0, stdout: first.stdout });
  const folder = join(out, "superseded", `inspo/micro/${ARM}@rollouts=128`);
  expect(readdirSync(folder).sort()).toEqual(["seed-1.1", "seed-1.2"]);
  expect(contentOf(join(folder, "seed-1.1"))).toEqual(old);
});

test("reproduce starts a cell anew that was killed before its first checkpoint, whatever was left of it", async () => {
  const { out, first } = finishedCell();
  const directory = runDirectory(out);
  const journal = readFileSync(join(directory, "journal.jsonl"), "utf8");
  await Deno.remove(join(directory, "checkpoint"), { recursive: true });
  writeFileSync(
    join(directory, "status.json"),
    JSON.stringify({ ...statusOf(directory), state: "running", step: 0, rollouts: 0 }),
  );
  writeFileSync(join(directory, "journal.jsonl"), journal.slice(0, 700));
  expect(await reproduce(out)).toMatchObject({ code: 0, stdout: first.stdout });
  expect(readFileSync(join(directory, "journal.jsonl"), "utf8")).toBe(journal);
});

test("reproduce that was killed between the last checkpoint and the end writes the end once", async () => {
  const { out, first } = finishedCell();
  const directory = runDirectory(out);
  const before = await lastingContent(directory);
  writeFileSync(join(directory, "status.json"), JSON.stringify({ ...statusOf(directory), state: "running" }));
  expect(await reproduce(out)).toMatchObject({ code: 0, stdout: first.stdout });
  expect(await lastingContent(directory)).toEqual(before);
  expect(before.journal.match(/"type":"finish"/g)).toHaveLength(1);
});

test("reproduce gives the store and the report the same numbers as its table", async () => {
  const { out, first } = finishedCell();
  const sql = "select value from evaluations where name = 'em' and decoding = 'T=1' order by rollouts desc limit 1";
  const { stdout } = await runScript("store", ["query", sql, "--out", out]);
  const em = (JSON.parse(stdout).value as number).toFixed(3);
  expect(first.stdout).toMatch(new RegExp(`${ARM}\\s+${em.replace(".", "\\.")}\\s`));
  expect(readFileSync(join(out, "inspo/micro/report.html"), "utf8")).toContain(em);
  expect(existsSync(join(out, "inspo/micro/report.html.new"))).toBe(false);
});
