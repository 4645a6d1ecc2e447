import { Buffer } from "node:buffer";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import type { Document } from "../../lib/retrieval/document.ts";
import { readCorpus } from "../../lib/retrieval/read_corpus.ts";

const folder = mkdtempSync(join(tmpdir(), "read_corpus-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const read = (path: string): Promise<Document[]> => Array.fromAsync(readCorpus(path));
const documents = Array.from(
  { length: 3000 },
  (_, i) => ({ id: String(i), contents: `"Título ${i}"\n${"日本 text ".repeat(80)}` }),
);
const lines = documents.map((document) => JSON.stringify(document)).join("\n");

test("readCorpus() reads what was written, over chunk borders inside characters", async () => {
  expect(await read(write("plain.jsonl", lines))).toEqual(documents);
  expect(await read(write("end.jsonl", `${lines}\n\n`))).toEqual(documents);
});

test("readCorpus() unpacks .gz, also in several members", async () => {
  const [first, second] = [`${lines}\n`, '{"id": "last", "contents": "x"}\n'].map((text) => gzipSync(text));
  expect(await read(write("packed.jsonl.gz", Buffer.concat([first, second])))).toEqual([...documents, {
    id: "last",
    contents: "x",
  }]);
});

test("readCorpus() takes whole numbers as ids, CRLF, and ignores other fields", async () => {
  const path = write("other.jsonl", '{"id": 7, "title": "T", "contents": "c"}\r\n{"id": "8", "contents": ""}\r\n');
  expect(await read(path)).toEqual([{ id: "7", contents: "c" }, { id: "8", contents: "" }]);
});

test("readCorpus() stops early without reading on", async () => {
  for await (const document of readCorpus(join(folder, "packed.jsonl.gz"))) {
    expect(document).toEqual(documents[0]);
    break;
  }
});

test("readCorpus() names file and line of a malformed document", async () => {
  const good = '{"id": "0", "contents": "x"}\n';
  const cases: [string, RegExp][] = [
    ["{oops", /line 3: not JSON/],
    ['{"contents": "x"}', /line 3: "id": /],
    ['{"id": "1"}', /line 3: "contents": /],
    ['{"id": "1", "contents": 5}', /line 3: "contents": /],
    ["[1]", /line 3: the line: /],
  ];
  for (const [line, message] of cases) {
    const path = write("bad.jsonl", `${good}\n${line}\n${good}`);
    const error = await read(path).catch((error) => error);
    expect(error).toBeInstanceOf(SyntaxError);
    expect(error.message).toMatch(message);
    expect(error.message).toContain(path);
  }
});

test("readCorpus() says which file is missing, not gzip, or not UTF-8", async () => {
  for (const name of ["missing.jsonl", "missing.jsonl.gz"]) {
    await expect(read(join(folder, name))).rejects.toThrow(/missing\.jsonl.*ENOENT/);
  }
  await expect(read(write("plain.gz", lines))).rejects.toThrow(/plain\.gz/);
  await expect(read(write("torn.gz", gzipSync(lines).subarray(0, 500)))).rejects.toThrow(/torn\.gz/);
  await expect(read(write("latin1.jsonl", Uint8Array.of(0x22, 0xe9, 0x22)))).rejects.toThrow(/latin1\.jsonl/);
});
