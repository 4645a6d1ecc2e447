import { Buffer } from "node:buffer";
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type JsonLinesWriter,
  openJsonLines,
  RecordReadError,
  RecordWriteError,
  scanJsonLines,
} from "../../lib/record/json_lines.ts";
import { temporaryFolder } from "./temporary_folder.ts";

async function read(path: string): Promise<{ rows: unknown[]; torn: boolean }> {
  const rows: unknown[] = [];
  const { torn, lines } = await scanJsonLines(path, (row) => rows.push(row));
  expect(lines).toBe(rows.length);
  return { rows, torn };
}

function fileWith(text: string | Uint8Array): string {
  const path = join(temporaryFolder(), "rows.jsonl");
  writeFileSync(path, text);
  return path;
}

function written(path: string, write: (writer: JsonLinesWriter) => void): string {
  const writer = openJsonLines(path);
  write(writer);
  writer.close();
  return readFileSync(path, "utf8");
}

test("openJsonLines() appends whole lines behind what is there", () => {
  const path = fileWith('{"a":1}\n');
  expect(written(path, (writer) => writer.append({ b: "ü\n" }))).toBe('{"a":1}\n{"b":"ü\\n"}\n');
});

test("openJsonLines() counts bytes, not characters, in size, whether flushed or not", () => {
  const path = fileWith("");
  written(path, (writer) => {
    writer.append({ text: "“naïve” 😀" });
    const unflushed = writer.size;
    expect(statSync(path).size).toBe(0);
    writer.flush();
    expect(statSync(path).size).toBe(unflushed);
    expect(writer.size).toBe(unflushed);
  });
});

test("openJsonLines() writes by itself before much is buffered, and only whole lines", () => {
  const path = fileWith("");
  const writer = openJsonLines(path);
  for (let row = 0; row < 5000; row++) writer.append({ row, text: "some text to fill the buffer" });
  const early = readFileSync(path, "utf8");
  expect(early.length).toBeGreaterThan(0);
  expect(early.endsWith("}\n")).toBe(true);
  writer.close();
  expect(readFileSync(path, "utf8").split("\n").length).toBe(5001);
});

test("openJsonLines() writes null for numbers that are not finite", () => {
  expect(written(fileWith(""), (writer) => writer.append({ a: NaN, b: [-Infinity] }))).toBe('{"a":null,"b":[null]}\n');
});

test("openJsonLines() cuts off a torn last line, so that the next row does not stick to it", () => {
  const path = fileWith('{"a":1}\n{"a":2,"text":"hal');
  expect(written(path, (writer) => writer.append({ a: 3 }))).toBe('{"a":1}\n{"a":3}\n');
});

test("openJsonLines() keeps a whole last row that only lacks its newline", () => {
  expect(written(fileWith('{"a":1}\n{"a":2}'), (writer) => writer.append({ a: 3 }))).toBe(
    '{"a":1}\n{"a":2}\n{"a":3}\n',
  );
});

test("openJsonLines() cuts off a torn line that is longer than what is read at once", () => {
  const path = fileWith(`{"a":1}\n{"text":"${"x".repeat(3 << 20)}`);
  expect(written(path, () => {})).toBe('{"a":1}\n');
});

test("truncate() goes back to an earlier size and appends there", () => {
  const text = written(fileWith(""), (writer) => {
    writer.append({ a: 1 });
    const size = writer.size;
    writer.append({ a: 2 });
    writer.truncate(size);
    expect(writer.size).toBe(size);
    writer.append({ a: 3 });
  });
  expect(text).toBe('{"a":1}\n{"a":3}\n');
});

test("truncate() refuses to lengthen a file", () => {
  written(fileWith('{"a":1}\n'), (writer) => expect(() => writer.truncate(100)).toThrow(RangeError));
});

test.skipIf(!existsSync("/dev/full"))(
  "openJsonLines() reports a full disk with what to do, at every further call, and closes",
  () => {
    const path = join(temporaryFolder(), "rows.jsonl");
    symlinkSync("/dev/full", path);
    const writer = openJsonLines(path);
    writer.append({ a: 1 });
    for (const call of [() => writer.flush(), () => writer.flush(), () => writer.sync()]) {
      expect(call).toThrow(RecordWriteError);
      expect(call).toThrow(expect.objectContaining({ path, code: "ENOSPC" }));
      expect(call).toThrow(/Free space and run the same command again; it resumes from the last checkpoint/);
    }
    expect(() => writer.close()).not.toThrow();
  },
);

test("openJsonLines() names the cause where a folder is in the way", () => {
  const folder = temporaryFolder();
  expect(() => openJsonLines(folder)).toThrow(expect.objectContaining({ name: "RecordWriteError", code: "EISDIR" }));
});

test("scanJsonLines() reads back what was appended, across the blocks that it reads", async () => {
  const path = fileWith("");
  const rows = Array.from({ length: 30_000 }, (_, row) => ({ row, text: `item “${row}” 😀 ${"ü".repeat(row % 97)}` }));
  written(path, (writer) => rows.forEach((row) => writer.append(row)));
  expect(statSync(path).size).toBeGreaterThan(3 << 20);
  expect(await read(path)).toEqual({ rows, torn: false });
});

test("scanJsonLines() reads a line that is longer than its blocks", async () => {
  const row = { text: "é".repeat(1_500_000) };
  expect(await read(fileWith(`{"a":1}\n${JSON.stringify(row)}\n{"a":2}\n`))).toEqual({
    rows: [{ a: 1 }, row, { a: 2 }],
    torn: false,
  });
});

test("scanJsonLines() leaves out a torn last line wherever it was cut, and says so", async () => {
  const whole = '{"a":1}\n';
  const last = Buffer.from('{"b":"é😀","c":[1,{"d":null}]}\n');
  const path = fileWith("");
  for (let cut = 1; cut < last.length - 1; cut++) {
    writeFileSync(path, Buffer.concat([Buffer.from(whole), last.subarray(0, cut)]));
    expect(await read(path), `cut after ${cut} bytes`).toEqual({ rows: [{ a: 1 }], torn: true });
  }
});

test("scanJsonLines() finds nothing torn in an empty file", async () => {
  expect(await read(fileWith(""))).toEqual({ rows: [], torn: false });
});

test("scanJsonLines() names file and line of a damaged line in the middle", async () => {
  const path = fileWith('{"a":1}\n{"a":2\n{"a":3}\n');
  const reading = read(path);
  await expect(reading).rejects.toThrow(RecordReadError);
  await expect(reading).rejects.toThrow(`Cannot read ${JSON.stringify(path)}, line 2: not JSON: "{\\"a\\":2"`);
});

test("scanJsonLines() refuses bytes that are not UTF-8 instead of replacing them", async () => {
  const path = fileWith(Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}\n')]));
  await expect(read(path)).rejects.toThrow(/line 1: .*not UTF-8/);
});

test.skipIf(!existsSync("/dev/full"))(
  "scanJsonLines() refuses a device, which would never end [needs /dev/full]",
  async () => {
    await expect(scanJsonLines("/dev/full", () => {})).rejects.toThrow('Cannot read "/dev/full": it is not a file');
  },
);
