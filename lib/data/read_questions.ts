import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { z } from "zod";
import type { QaTask } from "../environment/search_qa/task.ts";

const question = z.object({
  id: z.union([z.string(), z.number()]).transform(String),
  question: z.string().min(1),
  golden_answers: z.array(z.string()).min(1),
});

/**
 * The questions of a JSON Lines file in FlashRAG's layout: `id`, `question`, `golden_answers` (a list); other fields
 * are ignored.
 *
 * @param source name of the data set, e.g. `hotpotqa`
 * @throws {SyntaxError} naming file and line of the first line that is not such a question
 */
export async function readQuestions(path: string, source: string): Promise<QaTask[]> {
  const tasks: QaTask[] = [];
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path, "utf8"), crlfDelay: Infinity })) {
    line++;
    if (text.trim() === "") continue;
    tasks.push(parseQuestion(text, source, line, path));
  }
  if (tasks.length === 0) {
    throw new SyntaxError(`${path} holds no questions: each line must be {"id", "question", "golden_answers"}`);
  }
  return tasks;
}

function parseQuestion(text: string, source: string, line: number, path: string): QaTask {
  const parsed = question.safeParse(parseJson(text, line, path));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new SyntaxError(
      `${path}:${line}: field ${
        issue.path.join(".") || "(line)"
      }: ${issue.message}; each line must be {"id", "question", "golden_answers"}`,
    );
  }
  const { id, question: asked, golden_answers: goldAnswers } = parsed.data;
  return { id, source, question: asked, goldAnswers, row: line - 1 };
}

function parseJson(text: string, line: number, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SyntaxError(`${path}:${line}: not a JSON object`, { cause });
  }
}
