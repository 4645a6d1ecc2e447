import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readRun } from "../../lib/record/read_run.ts";
import { temporaryFolder } from "./temporary_folder.ts";

const SCRIPT = fileURLToPath(new URL("fixtures/write_run.ts", import.meta.url));
const KILLS = 6;

/** Runs the script; kills it some milliseconds after it began to write, if told to. @returns its exit code, or signal */
async function attempt(directory: string, killAfter: number | null): Promise<number | string | null> {
  const child = spawn(process.execPath, ["run", "-A", "--quiet", SCRIPT, directory], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const errors: string[] = [];
  child.stderr.on("data", (data) => errors.push(String(data)));
  const ended = new Promise<number | string | null>((resolve) =>
    child.on("close", (code, signal) => resolve(signal ?? code))
  );
  if (killAfter !== null) {
    await Promise.race([new Promise((resolve) => child.stdout.once("data", resolve)), ended]);
    await delay(killAfter);
    child.kill("SIGKILL");
  } else child.stdout.resume();
  const result = await ended;
  expect(errors.join("")).toBe("");
  return result;
}

test("a run that is killed again and again ends with the files of an undisturbed one", async () => {
  const folder = temporaryFolder();
  const [calm, disturbed] = [join(folder, "calm"), join(folder, "disturbed")];
  expect(await attempt(calm, null)).toBe(0);
  let kills = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    if (await attempt(disturbed, Math.random() * 40) === "SIGKILL") kills++;
    // It may have come to its end before the kill.
    else break;
  }
  expect(kills).toBeGreaterThan(0);
  const isFinished = (await readRun(disturbed)).status?.state === "finished";
  if (!isFinished) expect(await attempt(disturbed, null)).toBe(0);
  for (const file of ["journal.jsonl", "samples.jsonl", "timing.jsonl", "config.json"]) {
    expect(readFileSync(join(disturbed, file), "utf8"), file).toBe(readFileSync(join(calm, file), "utf8"));
  }
  const { status, torn, journal } = await readRun(disturbed);
  expect(status).toMatchObject({ state: "finished", step: 40, rollouts: 320 });
  expect(torn).toEqual({ journal: false, samples: false, timing: false });
  expect(journal).toHaveLength(42);
}, 60_000);
