import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { hashConfig } from "./canonical_json.ts";
import { resumePoint } from "./checkpoint.ts";
import { requireUnlocked } from "./lock.ts";
import { readConfig, readStatus } from "./read_run.ts";
import { asWriteError, RecordReadError } from "./record_errors.ts";
import { RUN_FILES } from "./run_files.ts";
import type { RunConfig } from "./schema.ts";

/**
 * What a cell's directory is good for: `new`, nothing is there (or an attempt that ended before its first checkpoint);
 * `resume`, it has a checkpoint of the same settings; `reuse`, it is finished with the same settings; `supersede`, what
 * is there has other settings, or cannot be read, and is to be set aside.
 */
export type Reuse = "new" | "resume" | "reuse" | "supersede";

/**
 * Decides what a cell's directory is good for; changes nothing.
 *
 * @param hash hash of the wanted config
 */
export async function reuseOf(directory: string, hash: string): Promise<Reuse> {
  try {
    const config = await readConfig(directory);
    // config.json is written before any row; rows without it are of unknown settings.
    if (config === null) return existsSync(join(directory, RUN_FILES.journal)) ? "supersede" : "new";
    if (config.hash !== hash || hashOf(config) !== hash) return "supersede";
    if ((await readStatus(directory))?.state === "finished") return "reuse";
    return await resumePoint(directory) === null ? "new" : "resume";
  } catch (error) {
    if (error instanceof RecordReadError) return "supersede";
    throw error;
  }
}

/** A config that was edited by hand does not keep its hash. */
function hashOf({ recipe, scale, arm, seed, settings }: RunConfig): string {
  return hashConfig({ recipe, scale, arm, seed, settings });
}

/** What a cell's directory is prepared for. */
export interface Preparation {
  /** Results root. */
  out: string;
  /** Hash of the wanted config. */
  hash: string;
  /** Whether the cell is to be run again whatever is there. */
  isFresh: boolean;
}

/**
 * Decides what a cell's directory is good for, and sets it aside if it is to be superseded. The decision is returned.
 *
 * @throws {AlreadyRunningError} if a process is still at work in a directory that is to be set aside
 * @throws {RecordWriteError}
 */
export async function prepareDirectory(directory: string, { out, hash, isFresh }: Preparation): Promise<Reuse> {
  const found = await reuseOf(directory, hash);
  const hasRun = existsSync(join(directory, RUN_FILES.config)) || existsSync(join(directory, RUN_FILES.journal));
  const reuse = isFresh && hasRun ? "supersede" : found;
  if (reuse === "supersede") {
    await requireUnlocked(directory);
    await supersede(out, directory);
  }
  return reuse;
}

/**
 * Moves something of a results root to `<out>/superseded/<its place>.<n>`, n counting from 1; nothing is ever deleted.
 *
 * @returns where it is now
 * @throws {RangeError} if it is not below the results root
 * @throws {RecordWriteError}
 */
export async function supersede(out: string, path: string): Promise<string> {
  const place = relative(out, path);
  if (place === "" || place === ".." || place.startsWith(`..${sep}`) || isAbsolute(place)) {
    throw new RangeError(`Cannot set ${JSON.stringify(path)} aside: it is not below ${JSON.stringify(out)}`);
  }
  const base = join(out, "superseded", place);
  let count = 1;
  while (existsSync(`${base}.${count}`)) count++;
  const target = `${base}.${count}`;
  try {
    await mkdir(dirname(target), { recursive: true });
    await rename(path, target);
  } catch (error) {
    throw asWriteError(target, error);
  }
  return target;
}
