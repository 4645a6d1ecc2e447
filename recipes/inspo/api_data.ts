import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Panel, type PanelTasks, panelTasks, readPanel, splitQuestions } from "../../lib/data/panel.ts";
import { readQuestions } from "../../lib/data/read_questions.ts";
import { UsageError } from "../../lib/recipe/command_line.ts";
import type { RunOptions } from "../../lib/recipe/recipe.ts";
import { type Bm25Index, createBm25Index } from "../../lib/retrieval/bm25.ts";
import { readCorpus } from "../../lib/retrieval/read_corpus.ts";

/** The panel that is used where no data folder is named: 500 HotpotQA development questions. */
const HOTPOT = "hotpotqa-500";
const HOTPOT_PANEL = fileURLToPath(new URL(`../../data/panels/${HOTPOT}.json`, import.meta.url));

/** Name of the panel that is made of the questions of a `--data` folder. */
export const CUSTOM_PANEL = "custom";

/** pyserini's settings for passages. */
const BM25 = { k1: 0.9, b: 0.4 } as const;

const NO_DATA =
  "scale api needs real questions and paragraphs: give --data DIR with questions.jsonl and corpus.jsonl (recipes/inspo/README.md has the form), or set COEVO_SHARED";

/** Questions by split, and the search engine over their paragraphs. */
export interface ApiData {
  panel: Panel;
  tasks: PanelTasks;
  retriever: Bm25Index;
}

interface DataFiles {
  questions: string;
  corpus: string;
  panel: string;
}

/** What is missing of the data that a run would read, in a sentence, or null if it is all there. */
export function missingData({ dataDir }: RunOptions): string | null {
  const { questions, corpus } = dataFiles({ dataDir });
  const missing = [questions, corpus].find((path) => !existsSync(path));
  if (missing === undefined) return null;
  return dataDir === undefined
    ? NO_DATA
    : `--data ${dataDir}: there is no ${missing} (recipes/inspo/README.md has the form)`;
}

function dataFiles({ dataDir }: Pick<RunOptions, "dataDir">): DataFiles {
  if (dataDir !== undefined) {
    return {
      questions: join(dataDir, "questions.jsonl"),
      corpus: join(dataDir, "corpus.jsonl"),
      panel: CUSTOM_PANEL,
    };
  }
  const shared = join(process.env.COEVO_SHARED ?? "../shared", "data/qa");
  return {
    questions: join(shared, "hotpot500_questions.jsonl"),
    corpus: join(shared, "hotpot500_corpus.jsonl"),
    panel: HOTPOT,
  };
}

/** Read once in a process, however many cells ask for it. */
const loaded = new Map<string, Promise<ApiData>>();

/**
 * The data of a run.
 *
 * @throws {UsageError} if a file is missing or malformed; the message names file and line
 * @throws {PanelMismatchError} if the questions are not those of the committed panel
 */
export async function loadApiData(options: RunOptions): Promise<ApiData> {
  const missing = missingData(options);
  if (missing !== null) throw new UsageError(missing);
  const files = dataFiles(options);
  const data = loaded.get(files.questions) ?? readData(files);
  loaded.set(files.questions, data);
  return await data;
}

async function readData({ questions, corpus, panel: name }: DataFiles): Promise<ApiData> {
  try {
    const tasks = await readQuestions(questions, name);
    const panel = name === CUSTOM_PANEL ? splitQuestions(name, "--data", tasks) : await readPanel(HOTPOT_PANEL);
    return {
      panel,
      tasks: panelTasks(panel, tasks),
      retriever: createBm25Index(await Array.fromAsync(readCorpus(corpus)), BM25),
    };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) {
      throw new UsageError(error.message, { cause: error });
    }
    throw error;
  }
}
