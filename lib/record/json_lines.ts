import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from "node:fs";

/** A record could not be written. */
export class RecordWriteError extends Error {
  override name = "RecordWriteError";
  /** @param code the system's error code, e.g. `ENOSPC` */
  constructor(readonly path: string, readonly code: string, options?: ErrorOptions) {
    super(
      `Cannot write "${path}": ${reasonOf(code)}; run the same command again, it resumes from the last checkpoint`,
      options,
    );
  }
}

function reasonOf(code: string): string {
  if (code === "ENOSPC") return "the disk is full. Free some space";
  if (code === "EDQUOT") return "your quota is used up. Free some space";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return `it may not be written (${code}). Check its permissions`;
  }
  return `the system says ${code}`;
}

/** Runs a write; a system error becomes a {@link RecordWriteError}. */
export function recordWrite<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
    if (code === null) throw cause;
    throw new RecordWriteError(path, code, { cause });
  }
}

/** Appends lines to a file. */
export interface LineWriter {
  /** Adds a line; it reaches the file with the next {@link LineWriter.flush}, or earlier. */
  write(value: unknown): void;
  /** Hands all lines to the system. A killed process loses nothing that was flushed. @throws {RecordWriteError} */
  flush(): void;
  /** Flushes, and waits until the disk has it. */
  sync(): void;
  /** Bytes in the file after a flush. */
  size(): number;
  close(): void;
}

/** Characters that are kept before they are written by themselves. */
const BUFFERED = 1 << 16;

/**
 * A writer at the end of a JSON Lines file.
 *
 * @param keep bytes of an existing file to keep; what is behind them is cut off. Default: all
 */
export function lineWriter(path: string, keep?: number): LineWriter {
  const file = recordWrite(path, () => openSync(path, "a"));
  if (keep !== undefined) recordWrite(path, () => ftruncateSync(file, keep));
  let buffer = "";
  let bytes = keep ?? statSync(path).size;
  const flush = () => {
    const data = new TextEncoder().encode(buffer);
    let written = 0;
    while (written < data.length) written += recordWrite(path, () => writeSync(file, data, written));
    bytes += data.length;
    buffer = "";
  };
  return {
    write: (value) => {
      buffer += `${JSON.stringify(value)}\n`;
      if (buffer.length > BUFFERED) flush();
    },
    flush,
    sync: () => {
      flush();
      // Not every file system can (a pipe, /dev/full); the data was handed over already.
      try {
        fsyncSync(file);
      } catch { /* see above */ }
    },
    size: () => bytes,
    close: () => closeSync(file),
  };
}

/** Lines of a file. */
export interface ReadLines<T> {
  rows: T[];
  /** The last line was cut short, by a process that was killed while it wrote, and is left out. */
  isTorn: boolean;
}

/**
 * Reads a JSON Lines file; a torn last line is left out. A file that is not there has no lines.
 *
 * @param parse turns a line's value into a row; its error's first line is shown
 * @throws {SyntaxError} naming file and line of a line in the middle that cannot be read
 */
export function readJsonLines<T>(path: string, parse: (value: unknown) => T): ReadLines<T> {
  if (!existsSync(path)) return { rows: [], isTorn: false };
  const lines = readFileSync(path, "utf8").split("\n");
  const rest = lines.pop() ?? "";
  const rows = lines.map((line, index) => parseLine(path, index + 1, line, parse));
  return { rows, isTorn: rest !== "" };
}

function parseLine<T>(path: string, number: number, line: string, parse: (value: unknown) => T): T {
  try {
    return parse(JSON.parse(line));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new SyntaxError(`${path}:${number}: ${reason}`, { cause });
  }
}
