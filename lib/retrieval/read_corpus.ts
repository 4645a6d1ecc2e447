import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { z } from "zod";
import type { Document } from "./document.ts";

const line = z.object({
  id: z.union([z.string(), z.int()]).transform(String),
  contents: z.string(),
});

/**
 * The documents of a JSON Lines file in Search-R1's layout, one after another: `{"id": "0", "contents": "\"Title\"\ntext"}`.
 *
 * The file is streamed; a name that ends in `.gz` is unpacked on the way. Empty lines are passed over, other fields
 * ignored.
 *
 * @throws {SyntaxError} on a line that is not such a document, with the file and the line's number
 * @throws {Error} if the file cannot be read or unpacked
 */
export async function* readCorpus(path: string): AsyncGenerator<Document> {
  let number = 0;
  for await (const text of readLines(path)) {
    number++;
    if (text.trim() !== "") yield parseLine(text, path, number);
  }
}

function parseLine(text: string, path: string, number: number): Document {
  const fail = (reason: string) =>
    new SyntaxError(
      `Cannot read the corpus "${path}", line ${number}: ${reason}. Each line must be {"id": …, "contents": "\\"Title\\"\\ntext"}`,
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fail(`not JSON (${(error as Error).message})`);
  }
  const parsed = line.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw fail(`${issue.path.length === 0 ? "the line" : `"${issue.path.join(".")}"`}: ${issue.message}`);
}

async function* readLines(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  try {
    for await (const chunk of open(path)) {
      const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n");
      rest = lines.pop()!;
      yield* lines;
    }
    rest += decoder.decode();
  } catch (error) {
    throw new Error(`Cannot read the corpus "${path}": ${(error as Error).message}`, { cause: error });
  }
  if (rest !== "") yield rest;
}

function open(path: string): Readable {
  const source = createReadStream(path, { highWaterMark: 1 << 20 });
  if (!path.endsWith(".gz")) return source;
  const unpacked = createGunzip();
  // pipe() passes neither errors on (the reader of a missing file would wait for ever) nor an early end back.
  source.on("error", (error) => unpacked.destroy(error));
  unpacked.on("close", () => source.destroy());
  return source.pipe(unpacked);
}
