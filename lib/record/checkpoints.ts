import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { recordWrite } from "./json_lines.ts";
import { RECORD_VERSION } from "./schema.ts";

const stateFile = z.object({
  version: z.literal(RECORD_VERSION),
  step: z.number().int().nonnegative(),
  /** Bytes of each record file at that moment. */
  sizes: z.record(z.string(), z.number().int().nonnegative()),
  state: z.unknown(),
});

/** Where a run can go on. */
export interface ResumePoint {
  step: number;
  /** What the run's owner saved. */
  state: unknown;
  /** Folder with the engine's files. */
  enginePath: string;
  /** Bytes of each record file at that moment; what is behind them was written by a run that was killed. */
  sizes: Readonly<Record<string, number>>;
}

/** Folder of a run's checkpoints, and the file that names the valid one. */
const FOLDER = "checkpoint";
const POINTER = "latest";

/**
 * Writes a checkpoint as a whole and only then points to it, by a rename: a run that is killed at any moment has either
 * the old checkpoint or the new one. Older ones are removed.
 */
export async function writeCheckpoint(
  directory: string,
  { step, state, sizes }: { step: number; state: unknown; sizes: Readonly<Record<string, number>> },
  saveEngine: (folder: string) => Promise<void>,
): Promise<void> {
  const name = `step-${step}`;
  const folder = join(directory, FOLDER, name);
  recordWrite(folder, () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  });
  await saveEngine(folder);
  const text = JSON.stringify({ version: RECORD_VERSION, step, sizes, state });
  recordWrite(folder, () => writeFileSync(join(folder, "state.json"), text));
  replaceFile(join(directory, FOLDER, POINTER), name);
  for (const other of readdirSync(join(directory, FOLDER))) {
    if (other !== name && other !== POINTER) rmSync(join(directory, FOLDER, other), { recursive: true, force: true });
  }
}

/** The valid checkpoint of a run, or null if it has none. */
export function resumePoint(directory: string): ResumePoint | null {
  const pointer = join(directory, FOLDER, POINTER);
  if (!existsSync(pointer)) return null;
  const enginePath = join(directory, FOLDER, readFileSync(pointer, "utf8").trim());
  const { step, state, sizes } = stateFile.parse(JSON.parse(readFileSync(join(enginePath, "state.json"), "utf8")));
  return { step, state, enginePath, sizes };
}

/** Replaces a file as a whole: a reader sees the old content or the new. */
export function replaceFile(path: string, content: string): void {
  recordWrite(path, () => {
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
  });
}
