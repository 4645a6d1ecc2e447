import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { openCallLog } from "../../lib/api/call_log.ts";
import { type ChatClient, createChatClient } from "../../lib/api/chat_client.ts";
import type { Cell } from "../../lib/recipe/recipe.ts";
import type { CellContext } from "../../lib/recipe/run_recorded.ts";
import { openaiReflector } from "../../lib/reflector/openai.ts";
import type { Reflector } from "../../lib/reflector/reflector.ts";
import { recordingReflector, replayReflector } from "../../lib/reflector/replay.ts";

/** The reflecting model at micro scale, unless `COEVO_REFLECTOR_MODEL` names another. */
export const DEFAULT_REFLECTOR_MODEL = "gpt-4o-mini";

/** A call's limits; a local model on a busy machine may need two minutes. */
const CALL_LIMITS = { timeoutMs: 120_000, retries: 4, concurrency: 8 };

/** The recording of a cell: one file each, because cells run side by side. */
export function recordingFile(prefix: string, { arm, seed }: Pick<Cell, "arm" | "seed">): string {
  return `${prefix}.${arm}.seed-${seed}.jsonl`;
}

/**
 * What `--reflector` stands for in a cell's settings: `offline`, `openai:<model>`, or the recording that is replayed
 * with the hash of its content.
 *
 * @throws {RangeError} if the recording is not there
 */
export async function reflectorIdentity(
  flag: string,
  model: string,
  cell: Pick<Cell, "arm" | "seed">,
): Promise<string> {
  if (flag === "offline") return flag;
  if (flag === "openai") return `openai:${model}`;
  const file = recordingFile(flag.slice("replay:".length), cell);
  if (!existsSync(file)) throw new RangeError(`--reflector ${flag}: there is no ${file}; --record writes it`);
  return `replay:${createHash("sha256").update(await readFile(file)).digest("hex").slice(0, 16)}`;
}

/** The reflecting model at micro scale. */
export function reflectorModel(): string {
  return process.env.COEVO_REFLECTOR_MODEL ?? DEFAULT_REFLECTOR_MODEL;
}

/** A client whose replies are kept in the run's directory, so that a resumed run pays for none twice. */
export function cellChatClient(model: string, context: CellContext): ChatClient {
  const { options } = context;
  return createChatClient({
    model,
    ...CALL_LIMITS,
    limits: { maxCalls: options.maxCalls, maxCostUsd: options.maxCostUsd },
    prices: options.price === undefined
      ? undefined
      : { inputPerMillion: options.price[0], outputPerMillion: options.price[1] },
    log: openCallLog(join(context.directory, "calls.jsonl")),
  });
}

/** The reflector of a cell by its identity; `--record` keeps what it says. */
export function cellReflector(
  identity: string,
  cell: Cell,
  context: CellContext,
  ownReflector: (identity: string) => Reflector,
): Reflector {
  const { reflector: flag, recordFile } = context.options;
  const resumed = context.isResumed;
  const inner = identity.startsWith("openai:")
    ? openaiReflector(cellChatClient(identity.slice("openai:".length), context))
    : identity.startsWith("replay:")
    ? replayReflector(recordingFile((flag ?? "").slice("replay:".length), cell), { resumed })
    : ownReflector(identity);
  return recordFile === undefined ? inner : recordingReflector(inner, recordingFile(recordFile, cell), { resumed });
}
