import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { z } from "zod";

const owner = z.object({
  pid: z.number().int(),
  host: z.string(),
  since: z.string(),
  /** Start of the process as the kernel counts it: a reused pid has another. Null where it cannot be told. */
  started: z.string().nullable(),
});
type Owner = z.infer<typeof owner>;

/** Another process is at work in a directory. */
export class AlreadyRunningError extends Error {
  override name = "AlreadyRunningError";
  /** @param since ISO 8601 @param path the lock file */
  constructor(readonly pid: number, readonly host: string, readonly since: string, readonly path: string) {
    super(
      `Process ${pid} on ${host} has been at work here since ${since}; wait for it, or use another --out. If it is gone, delete "${path}"`,
    );
  }
}

/** A lock that is held. */
export interface Lock {
  release(): Promise<void>;
}

/** Name of the lock file. */
const LOCK_FILE = ".lock";

/**
 * Takes the lock of a directory (made if it is not there). A lock whose process is gone is taken over.
 *
 * @throws {AlreadyRunningError} if a living process, or one on another machine, holds it
 */
export function acquireLock(directory: string): Promise<Lock> {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, LOCK_FILE);
  const self: Owner = {
    pid: process.pid,
    host: hostname(),
    since: new Date().toISOString(),
    started: startOf(process.pid),
  };
  for (let attempt = 0; attempt < 3; attempt++) {
    if (createExclusively(path, self)) return Promise.resolve({ release: () => Promise.resolve(release(path, self)) });
    const holder = readOwner(path);
    if (holder !== null && isAlive(holder)) {
      return Promise.reject(new AlreadyRunningError(holder.pid, holder.host, holder.since, path));
    }
    rmSync(path, { force: true });
  }
  return Promise.reject(new AlreadyRunningError(0, "this machine", "just now", path));
}

/** A link appears with its content or not at all, so nobody ever reads a half-written lock. */
function createExclusively(path: string, self: Owner): boolean {
  const draft = `${path}.${self.pid}`;
  writeFileSync(draft, JSON.stringify(self));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function release(path: string, self: Owner): void {
  const holder = readOwner(path);
  if (holder?.pid === self.pid && holder.started === self.started) rmSync(path, { force: true });
}

function readOwner(path: string): Owner | null {
  if (!existsSync(path)) return null;
  try {
    return owner.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    // Not a lock of ours, or gone in between: as good as none.
    return null;
  }
}

function isAlive({ pid, host, started }: Owner): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return started === null || startOf(pid) === started;
}

/** Start time of a process in clock ticks since boot (Linux, field 22 of /proc/<pid>/stat), or null. */
function startOf(pid: number): string | null {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return null;
  const stat = readFileSync(path, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}
