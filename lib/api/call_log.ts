import { createHash } from "node:crypto";
import { z } from "zod";
import type { ChatReply, ChatRequest } from "./chat.ts";
import { appendJsonLine, mendLastLine, readJsonLines } from "./line_file.ts";

/** Replies that were paid for, by the hash of their request; see {@link openCallLog}. */
export interface CallLog {
  get(hash: string): ChatReply | undefined;
  /** Writes a reply; on return it is on the disk. */
  add(call: { hash: string; key: string; reply: ChatReply }): void;
  /** Every reply in the log. */
  replies(): Iterable<ChatReply>;
}

const chatReply: z.ZodType<ChatReply> = z.strictObject({
  text: z.string(),
  refusal: z.string().nullable(),
  finish: z.enum(["stop", "length", "filtered"]),
  stopText: z.string().nullable().optional(),
  model: z.string(),
  usage: z.strictObject({
    inputTokens: z.number().int().nonnegative(),
    outputTokens: z.number().int().nonnegative(),
    costUsd: z.number().nonnegative().nullable(),
    isEstimated: z.boolean(),
  }),
});

const loggedCall = z.strictObject({ v: z.literal(1), hash: z.string(), key: z.string(), reply: chatReply });

/** The replies of a log that nobody writes; none without a file. @throws {SyntaxError} if it is damaged */
export function readCallLog(path: string): ChatReply[] {
  return readJsonLines(path, loggedCall).map(({ reply }) => reply);
}

/**
 * Opens an append-only JSON Lines file of replies, so that a resumed run pays for no call twice.
 *
 * One process at a time may have it open. A torn last line (a process killed while it wrote) is cut off; that call is
 * made again.
 *
 * @throws {SyntaxError} if another line is damaged
 */
export function openCallLog(path: string): CallLog {
  mendLastLine(path);
  const replies = new Map(readJsonLines(path, loggedCall).map(({ hash, reply }) => [hash, reply]));
  return {
    get: (hash) => replies.get(hash),
    add: ({ hash, key, reply }) => {
      appendJsonLine(path, { v: 1, hash, key, reply });
      replies.set(hash, reply);
    },
    replies: () => replies.values(),
  };
}

/**
 * SHA-256 (hexadecimal) of everything that decides a reply: model, messages, sampling options, seed, format, and the
 * caller's key. The address of the server is not part of it: a local server gets another port at each start.
 *
 * @param format JSON schema that the reply must follow, if any
 */
export function requestHash(model: string, request: ChatRequest, format?: unknown): string {
  const { messages, maxTokens, temperature, topP, stop, seed, key } = request;
  const turns = messages.map(({ role, content }) => [role, content]);
  const sampling = [maxTokens, temperature ?? null, topP ?? null, stop ?? null, seed ?? null];
  return createHash("sha256").update(JSON.stringify([model, turns, sampling, format ?? null, key])).digest("hex");
}
