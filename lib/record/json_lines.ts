import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { Buffer } from "node:buffer";
import { asWriteError, RecordReadError, systemCode } from "./record_errors.ts";

export { RecordReadError, RecordWriteError } from "./record_errors.ts";

/** Bytes that are collected before they are written. */
const BUFFER_BYTES = 1 << 16;
/** Bytes that are read at once. */
const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** Appends rows to a JSON Lines file, whole lines only. After a failed write every further call fails likewise. */
export interface JsonLinesWriter {
  readonly path: string;
  /** Bytes of the file once everything is flushed. */
  readonly size: number;
  /** Adds a row. Numbers that are not finite become null. @throws {RecordWriteError} */
  append(row: object): void;
  /** Hands everything to the operating system: it survives the end of this process. @throws {RecordWriteError} */
  flush(): void;
  /** Flushes and waits for the disk: it survives a power cut. @throws {RecordWriteError} */
  sync(): void;
  /** Shortens the file. @throws {RangeError} if the file is shorter than `bytes` */
  truncate(bytes: number): void;
  /** Flushes, unless a write failed before, and closes. */
  close(): void;
}

/**
 * Opens a JSON Lines file for appending and creates it if need be. A torn last line, left by a process that was killed
 * in the middle of a write, is cut off.
 *
 * @throws {RecordWriteError}
 */
export function openJsonLines(path: string): JsonLinesWriter {
  const file = attempt(path, () => openSync(path, "a+"));
  let written = attempt(path, () => mendEnd(file));
  let pending: string[] = [];
  let pendingBytes = 0;
  let failure: unknown = null;

  function guarded(action: () => void): void {
    if (failure !== null) throw failure;
    try {
      action();
    } catch (error) {
      failure = asWriteError(path, error);
      throw failure;
    }
  }
  function flush(): void {
    guarded(() => {
      if (pendingBytes === 0) return;
      writeAll(file, Buffer.from(pending.join("")));
      written += pendingBytes;
      pending = [];
      pendingBytes = 0;
    });
  }

  return {
    path,
    get size() {
      return written + pendingBytes;
    },
    append: (row) => {
      const line = `${JSON.stringify(row)}\n`;
      pending.push(line);
      pendingBytes += Buffer.byteLength(line);
      if (pendingBytes >= BUFFER_BYTES) flush();
    },
    flush,
    sync: () => {
      flush();
      guarded(() => syncFile(file));
    },
    truncate: (bytes) => {
      flush();
      if (bytes > written) {
        throw new RangeError(`Cannot shorten ${JSON.stringify(path)} to ${bytes} bytes: it has only ${written}`);
      }
      guarded(() => {
        if (bytes < written) ftruncateSync(file, bytes);
        written = bytes;
      });
    },
    close: () => {
      try {
        if (failure === null) flush();
      } finally {
        closeSync(file);
      }
    },
  };
}

function attempt<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw asWriteError(path, error);
  }
}

/** The operating system may take only a part of a write. */
function writeAll(file: number, bytes: Uint8Array): void {
  for (let start = 0; start < bytes.length;) start += writeSync(file, bytes, start);
}

/** Pipes and some file systems cannot be synchronised; there is nothing to wait for then. */
function syncFile(file: number): void {
  try {
    fdatasyncSync(file);
  } catch (error) {
    if (!["EINVAL", "ENOTSUP", "ENOSYS"].includes(systemCode(error) ?? "")) throw error;
  }
}

/** Ends the last line of a file: completes a whole row, cuts off a torn one. Returns the file's size. */
function mendEnd(file: number): number {
  const { size } = fstatSync(file);
  const tail = lastLine(file, size);
  if (tail.length === 0) return size;
  if (isWholeRow(tail.toString("utf8"))) {
    writeAll(file, Buffer.from("\n"));
    return size + 1;
  }
  ftruncateSync(file, size - tail.length);
  return size - tail.length;
}

/** What follows the last newline. */
function lastLine(file: number, size: number): Buffer {
  const parts: Buffer[] = [];
  for (let end = size; end > 0;) {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, end));
    readSync(file, chunk, 0, chunk.length, end - chunk.length);
    const newline = chunk.lastIndexOf(NEWLINE);
    parts.unshift(chunk.subarray(newline + 1));
    if (newline >= 0) break;
    end -= chunk.length;
  }
  return Buffer.concat(parts);
}

/** Rows are objects, so no proper prefix of one is JSON. */
function isWholeRow(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** How a JSON Lines file ended. */
export interface LinesEnd {
  /** Rows that were read. */
  lines: number;
  /** Whether a torn last line was left out. */
  torn: boolean;
}

/**
 * Calls `onRow` for each row of a JSON Lines file, in order, without holding the file in memory. A last line that is not
 * whole (its writer was killed, or is writing it now) is left out and reported.
 *
 * @param onRow gets the parsed row and its line number, from 1
 * @throws {RecordReadError} on any other line that is not JSON, with file and line
 */
export async function scanJsonLines(path: string, onRow: (row: unknown, line: number) => void): Promise<LinesEnd> {
  let lines = 0;
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const decode = (bytes: Uint8Array) => {
    try {
      return decoder.decode(bytes);
    } catch (error) {
      throw new RecordReadError(path, lines + 1, "this line, or one soon after it, is not UTF-8", { cause: error });
    }
  };
  const rest = await forEachBlock(path, (block) => {
    for (const text of decode(block).split("\n")) {
      onRow(parseLine(path, text, lines + 1), lines + 1);
      lines++;
    }
  });
  const last = rest.toString("utf8");
  const torn = last !== "" && !isWholeRow(last);
  if (last !== "" && !torn) onRow(parseLine(path, last, ++lines), lines);
  return { lines, torn };
}

/** Hands out whole lines, many at once, without the last newline; returns what follows the file's last newline. */
async function forEachBlock(path: string, onBlock: (block: Buffer) => void): Promise<Buffer> {
  await using file = await open(path);
  // A device such as /dev/full never ends.
  if (!(await file.stat()).isFile()) throw new RecordReadError(path, null, "it is not a file");
  let parts: Buffer[] = [];
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES);
    if (bytesRead === 0) return Buffer.concat(parts);
    const chunk = buffer.subarray(0, bytesRead);
    const newline = chunk.lastIndexOf(NEWLINE);
    if (newline < 0) {
      parts.push(chunk);
      continue;
    }
    onBlock(Buffer.concat([...parts, chunk.subarray(0, newline)]));
    parts = [chunk.subarray(newline + 1)];
  }
}

function parseLine(path: string, text: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
    throw new RecordReadError(path, line, `not JSON: ${JSON.stringify(shown)}`, { cause: error });
  }
}
