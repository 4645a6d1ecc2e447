import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { exactJson } from "./canonical_json.ts";
import { asWriteError, RecordReadError, systemCode } from "./record_errors.ts";
import { replaceFile } from "./replace_file.ts";
import { RUN_FILES } from "./run_files.ts";
import { RECORD_VERSION } from "./schema.ts";

/** Where a run goes on from. */
export interface ResumePoint {
  /** Step after which the checkpoint was made. */
  step: number;
  /** The method's and the loop's state, as it was handed in. */
  state: unknown;
  /** Folder with the engine's files. */
  enginePath: string;
  /** Bytes of the append-only files at that moment; what is behind them is written again by the resumed run. */
  sizes: RecordSizes;
}

const bytes = z.number().int().nonnegative();
const recordSizes = z.strictObject({ journal: bytes, samples: bytes, timing: bytes });
/** Bytes of the append-only files of a run. */
export type RecordSizes = z.infer<typeof recordSizes>;

const savedState = z.strictObject({
  version: z.literal(RECORD_VERSION),
  step: z.number().int().nonnegative(),
  sizes: recordSizes,
  state: z.unknown(),
});

const POINTER = "latest";
const STATE = "state.json";
const ENGINE = "engine";
const REMEDY = "run again with --fresh (the old run is kept in superseded/)";

/**
 * Writes a checkpoint. The folder is complete before the pointer `checkpoint/latest` is replaced, and older folders are
 * removed after that: whenever the process is killed, the pointer names a whole checkpoint.
 *
 * @param directory the run's directory
 * @param saveEngine writes the engine's files into the folder it is given
 * @throws {RecordWriteError}
 * @throws {TypeError} if the state is not JSON-safe
 */
export async function writeCheckpoint(
  directory: string,
  { step, state, sizes }: Omit<ResumePoint, "enginePath">,
  saveEngine: (folder: string) => Promise<void>,
): Promise<void> {
  const root = join(directory, RUN_FILES.checkpoints);
  const text = exactJson({ version: RECORD_VERSION, step, sizes, state });
  try {
    await removeOthers(root, await pointedAt(root));
    const name = freeName(root, `step-${step}`);
    const folder = join(root, name);
    await mkdir(join(folder, ENGINE), { recursive: true });
    await saveEngine(join(folder, ENGINE));
    await syncFiles(join(folder, ENGINE));
    await replaceFile(join(folder, STATE), text);
    await replaceFile(join(root, POINTER), `${name}\n`);
    await removeOthers(root, name);
  } catch (error) {
    throw asWriteError(root, error);
  }
}

/**
 * The last whole checkpoint of a run's directory, or null without one.
 *
 * @throws {RecordReadError} if the pointer names a checkpoint that is not whole: something else than a kill damaged it
 */
export async function resumePoint(directory: string): Promise<ResumePoint | null> {
  const root = join(directory, RUN_FILES.checkpoints);
  const name = await pointedAt(root);
  if (name === null) return null;
  const path = join(root, name, STATE);
  const { step, state, sizes } = await readState(path);
  return { step, state, sizes, enginePath: join(root, name, ENGINE) };
}

async function readState(path: string): Promise<z.infer<typeof savedState>> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new RecordReadError(path, null, `the checkpoint is damaged; ${REMEDY}`, { cause: error });
  }
  const parsed = savedState.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new RecordReadError(path, null, `not a checkpoint of this version of coevo; ${REMEDY}`, {
    cause: parsed.error,
  });
}

/** The name of the current checkpoint's folder, or null. */
async function pointedAt(root: string): Promise<string | null> {
  const path = join(root, POINTER);
  try {
    const name = (await readFile(path, "utf8")).trim();
    if (/^step-\d+(\.\d+)?$/.test(name)) return name;
    throw new RecordReadError(path, null, `it names no checkpoint: ${JSON.stringify(name)}; ${REMEDY}`);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return null;
    throw error;
  }
}

/** A second checkpoint of the same step must not touch the first, which is the current one until it is complete. */
function freeName(root: string, name: string): string {
  if (!existsSync(join(root, name))) return name;
  return `${name}.2`;
}

async function removeOthers(root: string, current: string | null): Promise<void> {
  const names = existsSync(root) ? await readdir(root) : [];
  for (const name of names) {
    if (name !== current && name !== POINTER) await rm(join(root, name), { recursive: true, force: true });
  }
}

/** Waits until the files of a folder are on the disk, so that the pointer never outruns them. */
async function syncFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    await using file = await open(join(entry.parentPath, entry.name), "r+");
    await file.datasync();
  }
}
