import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runScript, statusOf, temporaryFolder } from "./processes.ts";

const hasFullDevice = existsSync("/dev/full");
const testWithFullDevice = hasFullDevice ? test : test.skip;
const FULL = hasFullDevice ? "" : " [needs /dev/full]";

const directoryOf = (out: string, seed: number) => join(out, `inspo/micro/search-r1-grpo@rollouts=128/seed-${seed}`);
const reproduce = (out: string, seeds: string) =>
  runScript("reproduce", [
    ...["inspo", "--arms", "search-r1-grpo", "--seeds", seeds, "--rollouts", "128", "--out", out],
  ]);

/** A cell whose journal is on a full disk. */
async function makeFull(out: string, seed: number): Promise<string> {
  const directory = directoryOf(out, seed);
  if (!existsSync(directory)) expect(await reproduce(out, `${seed}..${seed}`)).toMatchObject({ code: 0 });
  rmSync(join(directory, "checkpoint"), { recursive: true });
  writeFileSync(join(directory, "status.json"), JSON.stringify({ ...statusOf(directory), state: "running" }));
  const journal = join(directory, "journal.jsonl");
  rmSync(journal);
  symlinkSync("/dev/full", journal);
  return journal;
}

/** An unfinished cell whose checkpoint is garbage. */
async function damageCheckpoint(out: string, seed: number): Promise<string> {
  const directory = directoryOf(out, seed);
  if (!existsSync(directory)) expect(await reproduce(out, `${seed}..${seed}`)).toMatchObject({ code: 0 });
  writeFileSync(join(directory, "status.json"), JSON.stringify({ ...statusOf(directory), state: "running" }));
  const folder = join(directory, "checkpoint", readFileSync(join(directory, "checkpoint/latest"), "utf8").trim());
  const weights = join(folder, "engine/model.safetensors");
  writeFileSync(weights, "not weights");
  return weights;
}

testWithFullDevice(
  `reproduce on a full disk exits with 3, names the file and the remedy, and finishes the other cells${FULL}`,
  async () => {
    const out = temporaryFolder();
    const journal = await makeFull(out, 1);
    const { code, stdout, stderr } = await reproduce(out, "1,2");
    expect(code).toBe(3);
    expect(stderr).toContain(
      `Cannot write ${JSON.stringify(journal)}: no space is left on the device (ENOSPC). Free space`,
    );
    expect(stderr).toContain("run the same command again");
    expect(stderr).not.toContain("    at ");
    expect(statusOf(directoryOf(out, 1))?.state).toBe("failed");
    expect(statusOf(directoryOf(out, 2))?.state).toBe("finished");
    expect(stdout).toContain("incomplete");

    // With space again, the same command finishes it.
    rmSync(journal);
    expect(await reproduce(out, "1,2")).toMatchObject({ code: 0 });
    expect(statusOf(directoryOf(out, 1))).toMatchObject({ state: "finished", error: null });
  },
  60_000,
);

test("reproduce exits with 1 where a cell fails by itself, says why, and finishes the other cells", async () => {
  const out = temporaryFolder();
  const weights = await damageCheckpoint(out, 1);
  const { code, stderr } = await reproduce(out, "1,2");
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /search-r1-grpo@rollouts=128 seed 1: failed: Cannot read .*the checkpoint does not load .*--fresh/,
  );
  expect(stderr).toContain(weights);
  expect(statusOf(directoryOf(out, 1))).toMatchObject({ state: "failed", error: expect.stringContaining(weights) });
  expect(statusOf(directoryOf(out, 2))?.state).toBe("finished");
  expect(JSON.parse((await reproduceJson(out)).stdout)[0].results).toBeDefined();
}, 60_000);

const reproduceJson = (out: string) =>
  runScript("reproduce", [
    ...["inspo", "--arms", "search-r1-grpo", "--seeds", "2", "--rollouts", "128", "--out", out, "--json"],
  ]);

testWithFullDevice(
  `reproduce exits with 1 where one cell fails by itself and another for want of space${FULL}`,
  async () => {
    const out = temporaryFolder();
    await makeFull(out, 1);
    await damageCheckpoint(out, 2);
    expect(await reproduce(out, "1,2")).toMatchObject({ code: 1 });
  },
  60_000,
);

test("reproduce names a finished run that is damaged, leaves it out and exits with 1; --fresh mends it", async () => {
  const out = temporaryFolder();
  expect(await reproduce(out, "1,2")).toMatchObject({ code: 0 });
  const journal = join(directoryOf(out, 1), "journal.jsonl");
  const lines = readFileSync(journal, "utf8").split("\n");
  writeFileSync(journal, [lines[0], lines[1].slice(0, 40), ...lines.slice(2)].join("\n"));
  const { code, stdout, stderr } = await reproduce(out, "1,2");
  expect(code).toBe(1);
  expect(stderr).toContain(`left out: Cannot read ${JSON.stringify(journal)}, line 2: not JSON`);
  expect(stderr).toContain("--fresh runs the cell again");
  expect(stdout).toContain("incomplete");
  const plan = await runScript("reproduce", [
    "inspo",
    "--arms",
    "search-r1-grpo",
    "--seeds",
    "1",
    "--plan",
    "--out",
    out,
  ]);
  expect(plan.code).toBe(0);
  expect(
    await runScript("reproduce", [
      ...["inspo", "--arms", "search-r1-grpo", "--seeds", "1", "--rollouts", "128", "--out", out, "--fresh"],
    ]),
  ).toMatchObject({ code: 0 });
  expect(await reproduce(out, "1,2")).toMatchObject({ code: 0 });
}, 60_000);

test("reproduce exits with 3 and one line where the results root is a file", async () => {
  const out = join(temporaryFolder(), "results");
  writeFileSync(out, "somebody's file");
  const { code, stdout, stderr } = await reproduce(out, "1");
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toContain(out);
  expect(stderr.match(/\n/g)).toHaveLength(1);
  expect(readFileSync(out, "utf8")).toBe("somebody's file");
});

testWithFullDevice(
  `reproduce prints its table before a report that cannot be written, and exits with 3${FULL}`,
  async () => {
    const out = temporaryFolder();
    mkdirSync(join(out, "inspo/micro"), { recursive: true });
    symlinkSync("/dev/full", join(out, "inspo/micro/report.html.new"));
    const { code, stdout, stderr } = await reproduce(out, "1");
    expect(code).toBe(3);
    expect(stdout).toContain("search-r1-grpo");
    expect(stderr).toContain("no space is left on the device (ENOSPC)");
    expect(stderr).not.toContain("    at ");
  },
);
