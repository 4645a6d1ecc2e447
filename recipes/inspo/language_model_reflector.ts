import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { createCallLog } from "../../lib/api/call_log.ts";
import { createChatClient } from "../../lib/api/chat_client.ts";
import type { Cell, RunOptions } from "../../lib/recipe/recipe.ts";
import type { CellContext } from "../../lib/recipe/run_recorded.ts";
import { openaiReflector } from "../../lib/reflector/openai.ts";
import type { Reflector } from "../../lib/reflector/reflector.ts";
import { recordingReflector, replayReflector } from "../../lib/reflector/replay.ts";

/** The reflecting model where the environment does not name one. */
export const DEFAULT_REFLECTOR_MODEL = "gpt-4o-mini";

/** The recording of a cell: one file each, because cells run side by side. */
export function recordingFile(prefix: string, arm: string, seed: number): string {
  return `${prefix}.${arm}.seed-${seed}.jsonl`;
}

/**
 * What `--reflector` stands for in a cell's settings: `openai:<model>`, or the hash of the recording that is replayed.
 *
 * @throws {RangeError} if the recording is not there
 */
export async function reflectorIdentity(flag: string, arm: string, seed: number): Promise<string> {
  if (flag === "offline") return flag;
  if (flag === "openai") return `openai:${reflectorModel()}`;
  const prefix = flag.slice("replay:".length);
  const file = recordingFile(prefix, arm, seed);
  if (!existsSync(file)) throw new RangeError(`--reflector ${flag}: there is no ${file}; --record ${prefix} writes it`);
  const hash = createHash("sha256").update(await readFile(file)).digest("hex").slice(0, 16);
  return `replay:${hash}`;
}

/** The reflector of a cell. */
export function languageModelReflector(identity: string, cell: Cell, context: CellContext): Reflector {
  void identity;
  void cell;
  void context;
  void join;
  void process;
  void createCallLog;
  void createChatClient;
  void openaiReflector;
  void recordingReflector;
  void replayReflector;
  throw new TypeError("to be assembled");
}

function reflectorModel(): string {
  return process.env.COEVO_REFLECTOR_MODEL ?? DEFAULT_REFLECTOR_MODEL;
}

export type { RunOptions };
