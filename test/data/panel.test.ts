import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import {
  PanelMismatchError,
  panelTasks,
  panelText,
  questionsHash,
  readPanel,
  splitQuestions,
} from "../../lib/data/panel.ts";
import { readQuestions } from "../../lib/data/read_questions.ts";
import type { QaTask } from "../../lib/environment/search_qa/task.ts";
import { SHARED, testWithShared } from "../shared.ts";
import { runScript, temporaryFolder } from "../reproduce/processes.ts";

const PANELS = fileURLToPath(new URL("../../data/panels/", import.meta.url));
const HOTPOT = "data/qa/hotpot500_questions.jsonl";

function questions(count: number): QaTask[] {
  return Array.from(
    { length: count },
    (_, n) => ({ id: `q${n}`, source: "s", question: `Question ${n}?`, goldAnswers: [`${n}`] }),
  );
}

function temporaryFile(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "coevo-")), "panel.json");
  writeFileSync(path, text);
  return path;
}

test("splitQuestions() gives 40 % to verification and test each, at most 200, and every question to one split", () => {
  for (const [count, sizes] of [[30, [6, 12, 12]], [499, [101, 199, 199]], [1000, [600, 200, 200]]] as const) {
    const { splits } = splitQuestions("p", "s", questions(count));
    expect([splits.train, splits.verification, splits.test].map(({ length }) => length)).toEqual(sizes);
    expect(new Set(Object.values(splits).flat()).size).toBe(count);
  }
});

test("splitQuestions() does not depend on the order of the questions, and depends on the panel's name", () => {
  const panel = splitQuestions("p", "s", questions(50));
  expect(splitQuestions("p", "s", questions(50).reverse())).toEqual(panel);
  expect(splitQuestions("other", "s", questions(50)).splits).not.toEqual(panel.splits);
  // Neighbours in the file are spread over the splits.
  expect(panel.splits.test).not.toEqual([...panel.splits.test].sort());
});

test("splitQuestions() refuses few questions and repeated ids", () => {
  expect(() => splitQuestions("p", "s", questions(29))).toThrow(RangeError);
  expect(() => splitQuestions("p", "s", [...questions(30), questions(5)[4]])).toThrow(/the id "q4" occurs twice/);
});

test("panelTasks() gives the questions by split, whatever else the data has and in whatever order", () => {
  const panel = splitQuestions("p", "s", questions(30));
  const tasks = panelTasks(panel, questions(40).reverse());
  expect(tasks.train.map(({ id }) => id)).toEqual(panel.splits.train);
  expect(tasks.verification.map(({ id }) => id)).toEqual(panel.splits.verification);
  expect(tasks.test.map(({ id }) => id)).toEqual(panel.splits.test);
});

test.each<[string, (tasks: QaTask[]) => QaTask[], RegExp]>([
  ["a missing question", (tasks) => tasks.slice(1), /Panel p has the question "q0", which the data does not have/],
  [
    "another wording",
    (tasks) => tasks.with(3, { ...tasks[3], question: "Other?" }),
    /questions of panel p have changed/,
  ],
  [
    "another answer",
    (tasks) => tasks.with(3, { ...tasks[3], goldAnswers: ["3", "three"] }),
    /have changed: their hash is/,
  ],
])("panelTasks() refuses %s", (_, change, message) => {
  const panel = splitQuestions("p", "s", questions(30));
  expect(() => panelTasks(panel, change(questions(30)))).toThrow(PanelMismatchError);
  expect(() => panelTasks(panel, change(questions(30)))).toThrow(message);
});

test("readPanel() reads what panelText() writes, and names file and field of anything else", async () => {
  const panel = splitQuestions("p", 'a "source"', questions(30));
  const text = panelText(panel);
  expect(await readPanel(temporaryFile(text))).toEqual(panel);
  expect(text.split("\n").length).toBeLessThan(15);
  await expect(readPanel(temporaryFile(text.replace('"version": 1', '"version": 2')))).rejects.toThrow(
    /panel\.json is no panel file: field version/,
  );
});

testWithShared(
  "the committed panel hotpotqa-500 is that of the real questions, and splits them as it says",
  [HOTPOT],
  async () => {
    const panel = await readPanel(join(PANELS, "hotpotqa-500.json"));
    const tasks = await readQuestions(join(SHARED, HOTPOT), "hotpotqa-500");
    const { train, verification, test } = panelTasks(panel, tasks);
    expect([train.length, verification.length, test.length]).toEqual([100, 200, 200]);
    expect(questionsHash([...train, ...verification, ...test])).toBe(panel.hash);
    expect(splitQuestions(panel.name, panel.source, tasks)).toEqual(panel);
  },
);

test("the committed panels hold ids and a hash, and none of the questions", async () => {
  const text = readFileSync(join(PANELS, "hotpotqa-500.json"), "utf8");
  const { splits, hash, ...head } = await readPanel(join(PANELS, "hotpotqa-500.json"));
  expect(Object.values(splits).flat().every((id) => /^[0-9a-f]{24}$/.test(id))).toBe(true);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(text.length).toBeLessThan(500 * 28 + JSON.stringify(head).length + 300);
});

test("scripts/panel.ts writes a panel, the same again, and does not put another in its place", async () => {
  const folder = temporaryFolder();
  const [data, to] = [join(folder, "questions.jsonl"), join(folder, "p.json")];
  const write = (tasks: QaTask[]) =>
    writeFileSync(data, tasks.map((t) => JSON.stringify({ ...t, golden_answers: t.goldAnswers })).join("\n"));
  write(questions(40));
  const run = (...args: string[]) => runScript("panel", [data, "p", "--to", to, ...args]);
  expect(await run("--source", "made up")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("8 training, 16"),
  });
  const panel = await readPanel(to);
  expect(panel).toEqual(splitQuestions("p", "made up", questions(40)));
  write(questions(41));
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringMatching(/holds other questions/) });
  expect(await readPanel(to)).toEqual(panel);
  writeFileSync(data, '{"id": 1}\n');
  expect(await run()).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/questions\.jsonl:1: field question.*\n$/),
  });
});
