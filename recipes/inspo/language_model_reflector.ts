import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { openCallLog, readCallLog } from "../../lib/api/call_log.ts";
import type { ChatReply } from "../../lib/api/chat.ts";
import type { ChatClient } from "../../lib/api/chat_client.ts";
import { resolveEndpoint } from "../../lib/api/endpoint.ts";
import { UsageError } from "../../lib/recipe/command_line.ts";
import type { Cell, Prerequisite } from "../../lib/recipe/recipe.ts";
import type { CellContext } from "../../lib/recipe/run_recorded.ts";
import type { RunRecord } from "../../lib/record/read_run.ts";
import { openaiReflector } from "../../lib/reflector/openai.ts";
import type { Reflector } from "../../lib/reflector/reflector.ts";
import { recordingReflector, replayReflector } from "../../lib/reflector/replay.ts";

/** The reflecting model at micro scale, unless `COEVO_REFLECTOR_MODEL` names another. */
export const DEFAULT_REFLECTOR_MODEL = "gpt-4o-mini";

/** A call's limits; a local model on a busy machine may need two minutes. */
const CALL_LIMITS = { timeoutMs: 120_000, retries: 4, concurrency: 8 };

/** A run's replies from language models. */
const CALL_LOG = "calls.jsonl";

/** A log can be large, and every metric of a run asks for it. */
const replies = new WeakMap<RunRecord, ChatReply[]>();

/** Replies that a run paid for; none where no model was asked. */
export function paidReplies(run: RunRecord): readonly ChatReply[] {
  const known = replies.get(run) ?? readCallLog(join(run.directory, CALL_LOG));
  replies.set(run, known);
  return known;
}

/** The recording of a cell: one file each, because cells run side by side. */
export function recordingFile(prefix: string, { arm, seed }: Pick<Cell, "arm" | "seed">): string {
  return `${prefix}.${arm}.seed-${seed}.jsonl`;
}

/** How the identity of a recording that is not there begins. */
const NO_RECORDING = "replay:no file ";

/**
 * What `--reflector` stands for in a cell's settings: `offline`, `openai:<model>`, or the recording that is replayed
 * with the hash of its content. Cells that are asked for must have one, see {@link requireRecordings}; others are only
 * looked up.
 */
export async function reflectorIdentity(
  flag: string,
  model: string,
  cell: Pick<Cell, "arm" | "seed">,
): Promise<string> {
  if (flag === "offline") return flag;
  if (flag === "openai") return `openai:${model}`;
  const file = recordingFile(flag.slice("replay:".length), cell);
  if (!existsSync(file)) return `${NO_RECORDING}${file}`;
  return `replay:${createHash("sha256").update(await readFile(file)).digest("hex").slice(0, 16)}`;
}

/** Checks that the recordings to be replayed are there. @throws {UsageError} naming the first that is not */
export function requireRecordings(cells: readonly Cell[]): void {
  for (const { arm, settings: { reflector } } of cells) {
    if (typeof reflector !== "string" || !reflector.startsWith(NO_RECORDING)) continue;
    const file = reflector.slice(NO_RECORDING.length);
    throw new UsageError(`--reflector replay: there is no ${file} for ${arm}; --record writes it`);
  }
}

/** The reflecting model at micro scale. */
export function reflectorModel(): string {
  return process.env.COEVO_REFLECTOR_MODEL || DEFAULT_REFLECTOR_MODEL;
}

/** A server and, where it needs one, a key for it: as far as that can be told without calling it. */
export function endpointPrerequisite(model: string): Prerequisite {
  const fault = endpointFault(model);
  return { what: "a chat-completions endpoint", isMet: fault === null, remedy: fault ?? "" };
}

function endpointFault(model: string): string | null {
  const { OPENAI_API_KEY, OPENAI_BASE_URL } = process.env;
  if (!OPENAI_API_KEY?.trim() && !OPENAI_BASE_URL?.trim()) {
    return `Cannot call "${model}": set OPENAI_API_KEY, or OPENAI_BASE_URL to the address of a server of your own`;
  }
  try {
    resolveEndpoint(model, {});
    return null;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return error.message;
  }
}

/** A client whose replies are kept in the run's directory, so that a resumed run pays for none twice. */
export async function cellChatClient(model: string, context: CellContext): Promise<ChatClient> {
  const { options } = context;
  // Loaded on demand: most cells ask no model, and the library takes half of their start.
  const { createChatClient } = await import("../../lib/api/chat_client.ts");
  return createChatClient({
    model,
    ...CALL_LIMITS,
    limits: { maxCalls: options.maxCalls, maxCostUsd: options.maxCostUsd },
    prices: options.price === undefined
      ? undefined
      : { inputPerMillion: options.price[0], outputPerMillion: options.price[1] },
    log: openCallLog(join(context.directory, CALL_LOG)),
  });
}

/** Where a cell's reflector gets what it is made of. */
export interface ReflectorSources {
  /** A client for the reflecting model; default: one of its own with {@link cellChatClient}. */
  chatClient?(model: string): Promise<ChatClient>;
  /** The reflectors that need no language model, by identity. */
  ownReflector(identity: string): Reflector;
}

/** The reflector of a cell by its identity; `--record` keeps what it says. */
export async function cellReflector(
  identity: string,
  cell: Cell,
  context: CellContext,
  { chatClient = (model) => cellChatClient(model, context), ownReflector }: ReflectorSources,
): Promise<Reflector> {
  const { reflector: flag, recordFile } = context.options;
  // A run that was killed before its first checkpoint has begun its recording too.
  const resumed = context.isResumed || existsSync(join(context.directory, "config.json"));
  const inner = identity.startsWith("openai:")
    ? openaiReflector(await chatClient(identity.slice("openai:".length)))
    : identity.startsWith("replay:")
    ? replayReflector(recordingFile((flag ?? "").slice("replay:".length), cell), { resumed })
    : ownReflector(identity);
  return recordFile === undefined ? inner : recordingReflector(inner, recordingFile(recordFile, cell), { resumed });
}
