import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { asWriteError, systemCode } from "./record_errors.ts";

/** Another process is at work in a directory. */
export class AlreadyRunningError extends Error {
  override name = "AlreadyRunningError";
  /**
   * @param pid the other process
   * @param host its machine
   * @param since when it took the lock, ISO 8601
   * @param path its lock file
   */
  constructor(
    directory: string,
    readonly pid: number,
    readonly host: string,
    readonly since: string,
    readonly path: string,
  ) {
    const remedy = host === hostname()
      ? "Wait for it, or stop it, or choose another --out"
      : `Wait for it, or choose another --out; if it is gone for good, delete ${JSON.stringify(path)}`;
    super(
      `Cannot work in ${
        JSON.stringify(directory)
      }: process ${pid} on ${host} is at work there since ${since}. ${remedy}`,
    );
  }
}

/** A directory that belongs to this process. */
export interface Lock {
  /** The lock file. */
  readonly path: string;
  /** Gives the directory up. */
  release(): Promise<void>;
}

const owner = z.object({
  pid: z.number().int().positive(),
  host: z.string(),
  since: z.string(),
  /** Start time of the process, in clock ticks after boot, where /proc tells; a pid is used again, the pair is not. */
  startTicks: z.string().nullable(),
});
type Owner = z.infer<typeof owner>;
/** A lock file of another process that is alive, as far as can be told from here. */
interface Holder extends Owner {
  path: string;
}

const PREFIX = ".lock-";
/** Pauses, in milliseconds, after which two processes that met look again. */
const RETRIES = [20, 60, 180];

/**
 * Takes a directory for this process, and creates it if need be.
 *
 * Every process writes a lock file with a name of its own and *then* looks for others: of two that start together at
 * least one sees the other and steps back, and files of processes that are gone can be removed without a race, since no
 * name is ever used again. A process on another machine cannot be looked at; it counts as alive.
 *
 * @param waitSeconds how long to wait for a directory that is taken
 * @throws {AlreadyRunningError} if another process, or this one, has the directory
 * @throws {RecordWriteError}
 */
export async function acquireLock(directory: string, waitSeconds = 0): Promise<Lock> {
  const deadline = performance.now() + waitSeconds * 1000;
  for (let attempt = 0;; attempt++) {
    const path = join(directory, `${PREFIX}${randomUUID()}`);
    await writeLock(directory, path);
    const holder = (await holders(directory)).find((other) => other.path !== path);
    if (holder === undefined) return { path, release: () => rm(path, { force: true }) };
    await rm(path, { force: true });
    if (attempt >= RETRIES.length && performance.now() >= deadline) {
      throw new AlreadyRunningError(directory, holder.pid, holder.host, holder.since, holder.path);
    }
    // Not equal for two processes, or they would meet again.
    await delay((RETRIES[attempt] ?? 250) * (0.5 + Math.random()));
  }
}

/**
 * Makes sure that no process has a directory, without taking it. The directory need not exist.
 *
 * @throws {AlreadyRunningError} if one has it
 */
export async function requireUnlocked(directory: string): Promise<void> {
  const [holder] = await holders(directory);
  if (holder !== undefined) {
    throw new AlreadyRunningError(directory, holder.pid, holder.host, holder.since, holder.path);
  }
}

async function writeLock(directory: string, path: string): Promise<void> {
  const self: Owner = {
    pid: process.pid,
    host: hostname(),
    since: new Date().toISOString(),
    startTicks: startTicks(process.pid),
  };
  try {
    await mkdir(directory, { recursive: true });
    // Under another name first, so that nobody reads a half-written lock.
    const draft = path.replace(PREFIX, ".new-lock-");
    await writeFile(draft, `${JSON.stringify(self)}\n`, { flag: "wx" });
    await rename(draft, path);
  } catch (error) {
    throw asWriteError(path, error);
  }
}

/** Live locks of a directory; those of processes that are gone are removed on the way. */
async function holders(directory: string): Promise<Holder[]> {
  const found: Holder[] = [];
  for (const name of await lockNames(directory)) {
    const path = join(directory, name);
    const held = await readOwner(path);
    if (held !== null && isAlive(held)) found.push({ ...held, path });
    else await rm(path, { force: true });
  }
  return found;
}

async function lockNames(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => name.startsWith(PREFIX)).sort();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** Null where the file is gone, or is not a lock of ours. */
async function readOwner(path: string): Promise<Owner | null> {
  try {
    return owner.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    // Lock files appear whole, so one that cannot be read is damage, which must not block a directory for ever.
    return null;
  }
}

function isAlive({ pid, host, startTicks: recorded }: Owner): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists, and belongs to somebody else.
    if (systemCode(error) === "ESRCH") return false;
  }
  const current = startTicks(pid);
  return recorded === null || current === null || current === recorded;
}

/** Field 22 of /proc/<pid>/stat; `gone` for a process that has ended and was not waited for; null without /proc. */
function startTicks(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "gone" : fields[19];
  } catch {
    // No /proc on this system.
    return null;
  }
}
