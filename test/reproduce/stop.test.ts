import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { acquireLock } from "../../lib/record/lock.ts";
import { type Ended, runScript, type Script, startScript, statusOf, temporaryFolder, until } from "./processes.ts";

const ARM = "search-r1-grpo";
/** Two seconds of training on an idle core. */
const ROLLOUTS = "2000";

const command = (out: string) => ["inspo", "--arms", ARM, "--seeds", "1", "--rollouts", ROLLOUTS, "--out", out];
const runDirectory = (out: string) => join(out, `inspo/micro/${ARM}@rollouts=${ROLLOUTS}/seed-1`);
const hasCheckpoint = (out: string) => existsSync(join(runDirectory(out), "checkpoint/latest"));

/** Starts a command and waits until its cell trains. */
async function startTraining(out: string): Promise<Script> {
  const script = startScript("reproduce", command(out));
  await until("a first checkpoint", () => hasCheckpoint(out));
  return script;
}

/** The command that a stopped one prints, as arguments of the script. */
function printedCommand({ stderr }: Ended): string[] {
  const line = stderr.match(/This resumes:\n {2}deno task reproduce (.*)\n/)?.[1] ?? "";
  expect(line).not.toContain("'");
  return line.split(" ");
}

test.each(
  [
    ["SIGINT", "of its process group, as by Ctrl-C", 130, true],
    ["SIGTERM", "alone, as by a batch system", 143, false],
  ] as const,
)("reproduce on %s %s exits with %i, keeps a checkpoint and prints what resumes it", async (...given) => {
  const [signal, , code, toGroup] = given;
  const out = temporaryFolder();
  const script = await startTraining(out);
  process.kill(toGroup ? -script.child.pid! : script.child.pid!, signal);
  const stopped = await script.ended;
  expect(stopped).toMatchObject({ code, signal: null });
  const status = statusOf(runDirectory(out));
  expect(status).toMatchObject({ state: "interrupted", budget: Number(ROLLOUTS) });
  const { step } = JSON.parse(readFileSync(stateFile(out), "utf8"));
  expect(step).toBe(status?.step);
  expect(printedCommand(stopped)).toEqual(command(out));
  const npx = `npx --yes deno@${Deno.version.deno} task reproduce ${command(out).join(" ")}`;
  expect(stopped.stderr).toContain(`\n  (without Deno: ${npx})\n`);
  // Nothing is finished: no empty table hides the command.
  expect(stopped.stdout).toBe("");
  expect(existsSync(join(out, "inspo/micro/report.html"))).toBe(false);

  const resumed = await runScript("reproduce", printedCommand(stopped));
  expect(resumed).toMatchObject({ code: 0 });
  expect(statusOf(runDirectory(out))).toMatchObject({ state: "finished" });
  // Resumed, not run again: the environment of the second start is kept beside the first.
  expect(existsSync(join(runDirectory(out), "environment.2.json"))).toBe(true);
  expect(existsSync(join(out, "superseded"))).toBe(false);
}, 60_000);

function stateFile(out: string): string {
  const folder = join(runDirectory(out), "checkpoint");
  return join(folder, readFileSync(join(folder, "latest"), "utf8").trim(), "state.json");
}

test("reproduce that is stopped starts no further cell", async () => {
  const out = temporaryFolder();
  const args = [...command(out), "--jobs", "1"];
  args[4] = "1,2,3";
  const script = startScript("reproduce", args);
  await until("a first checkpoint", () => hasCheckpoint(out));
  process.kill(script.child.pid!, "SIGTERM");
  expect(await script.ended).toMatchObject({ code: 143 });
  expect(statusOf(runDirectory(out).replace("seed-1", "seed-2"))).toBeNull();
}, 60_000);

test("a second reproduce on the same folder exits with 3 and one line, and leaves the first alone", async () => {
  const out = temporaryFolder();
  const first = await startTraining(out);
  const second = await runScript("reproduce", command(out));
  expect(second).toMatchObject({ code: 3, stdout: "" });
  expect(second.stderr).toMatch(new RegExp(`^Cannot work in "[^"]+": process ${first.child.pid} on .* --out\n$`));
  expect(await first.ended).toMatchObject({ code: 0 });
  expect(statusOf(runDirectory(out))).toMatchObject({ state: "finished" });
}, 60_000);

test("the cell of a reproduce that was killed stops by itself, at once, with a checkpoint", async () => {
  const out = temporaryFolder();
  const script = await startTraining(out);
  process.kill(script.child.pid!, "SIGKILL");
  expect(await script.ended).toMatchObject({ signal: "SIGKILL" });
  await until("the cell's end", () => statusOf(runDirectory(out))?.state === "interrupted", 10);
  const { step } = JSON.parse(readFileSync(stateFile(out), "utf8"));
  expect(step).toBe(statusOf(runDirectory(out))?.step);
  expect(await runScript("reproduce", command(out))).toMatchObject({ code: 0 });
  expect(existsSync(join(runDirectory(out), "environment.2.json"))).toBe(true);
}, 60_000);

test("reproduce takes over at once from one that was killed, while its cell is still stopping", async () => {
  const out = temporaryFolder();
  const script = await startTraining(out);
  process.kill(script.child.pid!, "SIGKILL");
  expect(await runScript("reproduce", command(out))).toMatchObject({ code: 0 });
  expect(statusOf(runDirectory(out))).toMatchObject({ state: "finished" });
}, 60_000);

test("a cell waits for a process that is still giving its folder up", async () => {
  const out = temporaryFolder();
  const lock = await acquireLock(runDirectory(out));
  const script = startScript("reproduce", command(out));
  await script.seen(/starting/);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(existsSync(join(runDirectory(out), "config.json"))).toBe(false);
  await lock.release();
  expect(await script.ended).toMatchObject({ code: 0 });
}, 60_000);
