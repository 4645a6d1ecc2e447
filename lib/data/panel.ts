import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { QaTask } from "../environment/search_qa/task.ts";
import { hashSeed } from "../random/stream.ts";

/** A fixed split of a question set: ids and hash are committed, the questions are not. */
const panelFile = z.strictObject({
  version: z.literal(1),
  name: z.string(),
  /** Where the questions come from, in words. */
  source: z.string(),
  /** {@link questionsHash} of all questions of the panel, in the order of the splits. */
  hash: z.string(),
  splits: z.strictObject({ train: z.array(z.string()), verification: z.array(z.string()), test: z.array(z.string()) }),
});

/** A fixed split of a question set. */
export type Panel = z.infer<typeof panelFile>;

/** Questions by split. */
export interface PanelTasks {
  train: QaTask[];
  verification: QaTask[];
  test: QaTask[];
}

/** The questions at hand are not those of a panel. */
export class PanelMismatchError extends Error {
  override name = "PanelMismatchError";
}

/** SHA-256 over the canonical JSON of id, question and gold answers, in order. */
export function questionsHash(tasks: readonly QaTask[]): string {
  const hash = createHash("sha256");
  for (const { id, question, goldAnswers } of tasks) hash.update(`${JSON.stringify([id, question, goldAnswers])}\n`);
  return hash.digest("hex");
}

/**
 * Splits questions for text evolution: 200 for verification (the paper's number), up to 200 for the test, the rest for
 * training; in the order of a hash of their ids, so that the split does not depend on the file's order.
 *
 * @throws {RangeError} with fewer than 30 questions, or if an id occurs twice
 */
export function splitQuestions(name: string, source: string, tasks: readonly QaTask[]): Panel {
  if (tasks.length < 30) throw new RangeError(`Cannot split ${tasks.length} questions: at least 30 are needed`);
  const ids = new Set<string>();
  for (const { id } of tasks) {
    if (ids.has(id)) {
      throw new RangeError(`Cannot split the questions of ${name}: the id ${JSON.stringify(id)} occurs twice`);
    }
    ids.add(id);
  }
  const ordered = [...tasks].sort((a, b) => hashSeed(name, a.id) - hashSeed(name, b.id) || (a.id < b.id ? -1 : 1));
  const verification = Math.min(200, Math.floor(tasks.length * 0.4));
  const test = Math.min(200, Math.floor(tasks.length * 0.4));
  const cut = (from: number, to?: number) => ordered.slice(from, to).map(({ id }) => id);
  const splits = {
    train: cut(verification + test),
    verification: cut(0, verification),
    test: cut(verification, verification + test),
  };
  const panel = { version: 1 as const, name, source, hash: "", splits };
  return { ...panel, hash: questionsHash(inOrder(panel, tasks)) };
}

/**
 * The questions of a panel, by split.
 *
 * @throws {PanelMismatchError} if a question is missing, or the questions are others than the panel was made of
 */
export function panelTasks(panel: Panel, tasks: readonly QaTask[]): PanelTasks {
  const ordered = inOrder(panel, tasks);
  const hash = questionsHash(ordered);
  if (hash !== panel.hash) {
    throw new PanelMismatchError(
      `The questions of panel ${panel.name} have changed: their hash is ${hash.slice(0, 12)}…, the panel's ${
        panel.hash.slice(0, 12)
      }…; get the original data, or use --data with questions of your own`,
    );
  }
  const { train, verification } = panel.splits;
  return {
    train: ordered.slice(0, train.length),
    verification: ordered.slice(train.length, train.length + verification.length),
    test: ordered.slice(train.length + verification.length),
  };
}

/** A panel as its file holds it: the ids of a split on one line. */
export function panelText({ splits, ...head }: Panel): string {
  const fields = Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  const lines = Object.entries(splits).map(([name, ids]) => `    ${JSON.stringify(name)}: ${JSON.stringify(ids)}`);
  return `{\n${fields.join("")}  "splits": {\n${lines.join(",\n")}\n  }\n}\n`;
}

/**
 * Reads a panel file.
 *
 * @throws {SyntaxError} naming file and field if it is none
 */
export async function readPanel(path: string): Promise<Panel> {
  const parsed = panelFile.safeParse(JSON.parse(await readFile(path, "utf8")));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new SyntaxError(`${path} is no panel file: field ${issue.path.join(".") || "(all)"}: ${issue.message}`);
}

function inOrder(panel: Panel, tasks: readonly QaTask[]): QaTask[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return [...panel.splits.train, ...panel.splits.verification, ...panel.splits.test].map((id) => {
    const task = byId.get(id);
    if (task === undefined) {
      throw new PanelMismatchError(
        `Panel ${panel.name} has the question ${
          JSON.stringify(id)
        }, which the data does not have; get the original data, or use --data with questions of your own`,
      );
    }
    return task;
  });
}
