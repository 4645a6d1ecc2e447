import { ChatError } from "../api/chat.ts";
import { PanelMismatchError } from "../data/panel.ts";
import { RecordReadError, RecordWriteError } from "../record/record_errors.ts";
import { AlreadyRunningError } from "../record/lock.ts";
import { StoreLockedError } from "../record/store.ts";
import { RetrieverUnavailableError } from "../retrieval/retriever_unavailable_error.ts";
import { UsageError } from "./command_line.ts";

/** Exit codes of every script (design, §9). 1 wins over 3 where both apply. */
export const EXIT = {
  done: 0,
  /** A cell failed, or a fault of ours. */
  failed: 1,
  usage: 2,
  /** Disk, service, hub or GPU: the same command may succeed once that is mended. */
  infrastructure: 3,
  SIGINT: 130,
  SIGTERM: 143,
} as const;

/** Something that is neither coevo nor its input stands in the way: an address that is taken, a file that cannot be read. */
export class InfrastructureError extends Error {
  override name = "InfrastructureError";
}

/** Whether what failed is a disk, a lock or a service, and not the cell or its settings. */
export function isInfrastructureError(error: unknown): boolean {
  if (error instanceof ChatError) return error.reason === "unreachable" || error.reason === "timeout";
  return error instanceof InfrastructureError || error instanceof RecordWriteError ||
    error instanceof AlreadyRunningError ||
    error instanceof StoreLockedError || error instanceof RetrieverUnavailableError;
}

/** What an error means to a caller: one line for a user's mistake or a broken service, all of it for a fault of ours. */
export function exitCode(error: unknown): { code: number; message: string } {
  if (error instanceof UsageError || error instanceof PanelMismatchError) {
    return { code: EXIT.usage, message: error.message };
  }
  if (error instanceof Error && isInfrastructureError(error)) {
    return { code: EXIT.infrastructure, message: error.message };
  }
  if (error instanceof RecordReadError) return { code: EXIT.failed, message: error.message };
  return { code: EXIT.failed, message: error instanceof Error ? error.stack ?? error.message : String(error) };
}
