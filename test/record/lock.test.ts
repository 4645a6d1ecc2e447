import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { acquireLock, AlreadyRunningError, requireUnlocked } from "../../lib/record/lock.ts";
import { startFixture } from "./child_process.ts";
import { temporaryFolder } from "./temporary_folder.ts";

/** A lock file as a process wrote it. */
function plantLock(directory: string, change: Record<string, unknown>): string {
  const path = join(directory, ".lock-planted");
  const owner = { pid: process.pid, host: hostname(), since: "2026-01-02T03:04:05.000Z", startTicks: null, ...change };
  writeFileSync(path, JSON.stringify(owner));
  return path;
}

/** A process id that belonged to a process which has ended. */
async function deadPid(): Promise<number> {
  const { pid, child, ended } = startFixture("hold_lock.ts", temporaryFolder());
  child.kill("SIGKILL");
  await ended;
  return pid;
}

test("acquireLock() makes the directory, and release() leaves nothing behind", async () => {
  const directory = join(temporaryFolder(), "a", "b");
  const lock = await acquireLock(directory);
  expect(readdirSync(directory)).toHaveLength(1);
  await lock.release();
  expect(readdirSync(directory)).toEqual([]);
});

test("acquireLock() refuses a directory of a living process with who, where and since when", async () => {
  const directory = temporaryFolder();
  const { pid, firstLine, child, ended } = startFixture("hold_lock.ts", directory);
  expect(await firstLine).toBe("held");
  const refused = await acquireLock(directory).then(() => null, (error: unknown) => error);
  expect(refused).toBeInstanceOf(AlreadyRunningError);
  const { since, path, message } = refused as AlreadyRunningError;
  expect(refused).toMatchObject({ pid, host: hostname() });
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ pid, since });
  expect(message).toContain(`process ${pid} on ${hostname()} is at work there since ${since}`);
  expect(readdirSync(directory)).toHaveLength(1);
  child.stdin!.end();
  await ended;
  await (await acquireLock(directory)).release();
});

test("acquireLock() takes over from a process that was killed", async () => {
  const directory = temporaryFolder();
  const { firstLine, child, ended } = startFixture("hold_lock.ts", directory);
  expect(await firstLine).toBe("held");
  child.kill("SIGKILL");
  await ended;
  const lock = await acquireLock(directory);
  expect(readdirSync(directory)).toHaveLength(1);
  await lock.release();
});

test("acquireLock() lets one of several processes in, also when they find a stale lock", async () => {
  const directory = temporaryFolder();
  plantLock(directory, { pid: await deadPid() });
  const fixtures = Array.from({ length: 4 }, () => startFixture("hold_lock.ts", directory));
  const lines = await Promise.all(fixtures.map(({ firstLine }) => firstLine));
  expect(lines.filter((line) => line === "held").length).toBeLessThanOrEqual(1);
  expect(lines.filter((line) => line !== "held").every((line) => line === "AlreadyRunningError")).toBe(true);
});

test("acquireLock() refuses a second lock in the same process", async () => {
  const directory = temporaryFolder();
  const lock = await acquireLock(directory);
  await expect(acquireLock(directory)).rejects.toMatchObject({ pid: process.pid });
  await lock.release();
});

test("acquireLock() waits as long as it is told to", async () => {
  const directory = temporaryFolder();
  const lock = await acquireLock(directory);
  const waiting = acquireLock(directory, 20);
  await lock.release();
  await (await waiting).release();
});

test("acquireLock() is not deceived by a process id that was used again", async () => {
  const directory = temporaryFolder();
  plantLock(directory, { startTicks: "1" });
  if (process.platform === "linux") await (await acquireLock(directory)).release();
  else await expect(acquireLock(directory)).rejects.toThrow(AlreadyRunningError);
});

test("acquireLock() trusts a process on another machine, and says which file to delete", async () => {
  const directory = temporaryFolder();
  const path = plantLock(directory, { host: "another-machine", pid: 1 });
  await expect(acquireLock(directory)).rejects.toMatchObject({ host: "another-machine", path });
  await expect(acquireLock(directory)).rejects.toThrow(`if it is gone for good, delete ${JSON.stringify(path)}`);
});

test("acquireLock() is not blocked by a damaged lock file", async () => {
  const directory = temporaryFolder();
  writeFileSync(join(directory, ".lock-damaged"), "{");
  const lock = await acquireLock(directory);
  expect(readdirSync(directory)).toHaveLength(1);
  await lock.release();
});

test("acquireLock() reports a directory that cannot be made", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  await expect(acquireLock(join(folder, "file", "x"))).rejects.toMatchObject({ name: "RecordWriteError" });
});

test("requireUnlocked() takes no lock, and needs no directory", async () => {
  const directory = join(temporaryFolder(), "x");
  await requireUnlocked(directory);
  const lock = await acquireLock(directory);
  await expect(requireUnlocked(directory)).rejects.toThrow(AlreadyRunningError);
  await lock.release();
  await requireUnlocked(directory);
});
