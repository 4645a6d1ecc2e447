import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { SUPERSEDED } from "./run_directory.ts";
import { isRun, recordedHash } from "./run_writer.ts";
import { runStatus } from "./schema.ts";

/** What is to be done about a cell's directory. */
export type Reuse = "new" | "resume" | "reuse" | "supersede";

/** A finished run is reused, an unfinished one resumed, both only with equal settings. */
export function reuseOf(directory: string, hash: string): Promise<Reuse> {
  if (!isRun(directory)) return Promise.resolve("new");
  if (recordedHash(directory) !== hash) return Promise.resolve("supersede");
  return Promise.resolve(isFinished(directory) ? "reuse" : "resume");
}

/** {@link reuseOf}, carried out: a run that is superseded, or asked to be made afresh, is moved aside, never deleted. */
export async function prepareDirectory(
  directory: string,
  { out, hash, isFresh }: { out: string; hash: string; isFresh: boolean },
): Promise<Reuse> {
  const reuse = await reuseOf(directory, hash);
  if (reuse === "supersede" || (isFresh && reuse !== "new")) {
    moveAside(directory, out);
    return "new";
  }
  return reuse;
}

/** Moves a path below the results root to `<out>/superseded/`, under its own path and a number. @returns where it is now */
export function moveAside(path: string, out: string): string {
  for (let number = 1;; number++) {
    const target = join(out, SUPERSEDED, `${relative(out, path)}.${number}`);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    renameSync(path, target);
    return target;
  }
}

function isFinished(directory: string): boolean {
  const path = join(directory, "status.json");
  if (!existsSync(path)) return false;
  const status = runStatus.safeParse(JSON.parse(readFileSync(path, "utf8")));
  return status.success && status.data.state === "finished";
}
