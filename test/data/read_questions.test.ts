import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readQuestions } from "../../lib/data/read_questions.ts";
import { SHARED, testWithShared } from "../shared.ts";

function fileOf(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "coevo-")), "questions.jsonl");
  writeFileSync(path, text);
  return path;
}

test("readQuestions() reads FlashRAG's layout: ids of any kind, empty lines, Windows line ends and other fields", async () => {
  const path = fileOf(
    '{"id": 7, "question": "Who?", "golden_answers": ["A", "B"], "metadata": {}}\r\n\r\n' +
      '{"id": "x", "question": "Où?", "golden_answers": ["C"]}',
  );
  expect(await readQuestions(path, "s")).toEqual([
    { id: "7", source: "s", question: "Who?", goldAnswers: ["A", "B"], row: 0 },
    { id: "x", source: "s", question: "Où?", goldAnswers: ["C"], row: 2 },
  ]);
});

test.each([
  ["a line that is no JSON", "{", "not a JSON object"],
  ["a line that is no object", "[1]", "field (line): "],
  ["a missing question", '{"id": "a", "golden_answers": ["b"]}', "field question: "],
  ["an empty list of answers", '{"id": "a", "question": "q", "golden_answers": []}', "field golden_answers: "],
  ["an answer that is no text", '{"id": "a", "question": "q", "golden_answers": [1]}', "field golden_answers.0: "],
])("readQuestions() names file and line of %s", async (_, line, message) => {
  const path = fileOf(`{"id": "a", "question": "q", "golden_answers": ["b"]}\n${line}\n`);
  await expect(readQuestions(path, "s")).rejects.toThrow(SyntaxError);
  await expect(readQuestions(path, "s")).rejects.toThrow(`${path}:2: ${message}`);
});

test("readQuestions() refuses an empty file", async () => {
  await expect(readQuestions(fileOf("\n"), "s")).rejects.toThrow(/holds no questions/);
});

testWithShared("readQuestions() reads the 500 HotpotQA questions", ["data/qa/hotpot500_questions.jsonl"], async () => {
  const tasks = await readQuestions(join(SHARED, "data/qa/hotpot500_questions.jsonl"), "hotpotqa-500");
  expect(tasks.length).toBe(500);
  expect(tasks[0]).toMatchObject({ id: "5a8c7595554299585d9e36b6", goldAnswers: ["Chief of Protocol"] });
});
