import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCallLog } from "../../lib/api/call_log.ts";
import type { ChatReply } from "../../lib/api/chat.ts";

function replyOf(text: string): ChatReply {
  return {
    text,
    refusal: null,
    finish: "stop",
    model: "m",
    usage: { inputTokens: 1, outputTokens: 1, costUsd: null, isEstimated: false },
  };
}

function logWith(...hashes: string[]): string {
  const path = join(mkdtempSync(join(tmpdir(), "coevo-")), "sub", "calls.jsonl");
  const log = openCallLog(path);
  for (const hash of hashes) log.add({ hash, key: "k", reply: replyOf(`é ${hash}`) });
  return path;
}

test("openCallLog() reads back what was added", () => {
  const log = openCallLog(logWith("a", "b"));
  expect(log.get("a")).toEqual(replyOf("é a"));
  expect(log.get("c")).toBeUndefined();
  expect([...log.replies()].map(({ text }) => text)).toEqual(["é a", "é b"]);
});

test("openCallLog() survives a last line torn at any byte, and goes on behind it", () => {
  const path = logWith("a", "b");
  const whole = readFileSync(path);
  const firstEnd = whole.indexOf(0x0a) + 1;
  for (let length = firstEnd; length < whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length));
    const log = openCallLog(path);
    // Without its newline, the last line is complete and kept.
    expect(log.get("b") !== undefined).toBe(length === whole.length - 1);
    log.add({ hash: "c", key: "k", reply: replyOf("c") });
    const again = openCallLog(path);
    expect([again.get("a")?.text, again.get("c")?.text]).toEqual(["é a", "c"]);
  }
});

test("openCallLog() names the line that is damaged", () => {
  const path = logWith("a");
  appendFileSync(path, '{"v":9}\n');
  expect(() => openCallLog(path)).toThrow(/line 2 of ".*calls\.jsonl"/);
});
