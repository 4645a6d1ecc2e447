import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { z } from "zod";

const NEWLINE = 0x0a;

/** Appends a value as one line of JSON and waits until the disk has it. Missing folders are made. */
export function appendJsonLine(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, "a");
  try {
    writeSync(file, `${JSON.stringify(value)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * The lines of a JSON Lines file, checked by a schema; none if there is no file.
 *
 * A last line that a killed process left torn is dropped.
 *
 * @throws {SyntaxError} on any other line that is not JSON or not of the schema; names file and line
 */
export function readJsonLines<T>(path: string, schema: z.ZodType<T>): T[] {
  if (!existsSync(path)) return [];
  const bytes = readFileSync(path);
  const complete = bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1).toString();
  const tail = bytes.subarray(bytes.lastIndexOf(NEWLINE) + 1).toString();
  const lines = complete.split("\n").slice(0, -1);
  if (tail !== "" && parseJson(tail) !== undefined) lines.push(tail);
  return lines.map((line, index) => {
    const result = schema.safeParse(parseJson(line));
    if (result.success) return result.data;
    throw new SyntaxError(
      `Cannot read line ${
        index + 1
      } of "${path}": it is damaged or was written by another version; repair or remove the file`,
    );
  });
}

/** Makes the end of a JSON Lines file fit for appending: a torn last line is cut off, a missing newline is added. */
export function mendLastLine(path: string): void {
  if (!existsSync(path)) return;
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  if (end === bytes.length) return;
  if (parseJson(bytes.subarray(end).toString()) === undefined) {
    truncateSync(path, end);
    return;
  }
  const file = openSync(path, "a");
  try {
    writeSync(file, "\n");
  } finally {
    closeSync(file);
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The caller knows whether a line that is no JSON is torn or damaged.
    return undefined;
  }
}
