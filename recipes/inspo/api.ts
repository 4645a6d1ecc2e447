import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Panel, panelFile, type PanelTasks, panelTasks, splitQuestions } from "../../lib/data/panel.ts";
import { readQuestions } from "../../lib/data/read_questions.ts";
import { chatPolicy } from "../../lib/environment/chat_policy.ts";
import { describeFailure } from "../../lib/environment/search_qa/describe_failure.ts";
import { SEARCH_R1_INSTRUCTION } from "../../lib/environment/search_qa/prompt.ts";
import { SEARCH_QA_PROTOCOL, type SearchQaProtocol } from "../../lib/environment/search_qa/protocol.ts";
import { searchQaEnvironment } from "../../lib/environment/search_qa/rollout.ts";
import type { QaTask } from "../../lib/environment/search_qa/task.ts";
import { inspoMethod } from "../../lib/method/inspo/method.ts";
import { type InspoSettings, PAPER_VERIFICATION } from "../../lib/method/inspo/settings.ts";
import { staticMethod } from "../../lib/method/static.ts";
import type { Method } from "../../lib/method/method.ts";
import { UsageError } from "../../lib/recipe/command_line.ts";
import type { Cell, Overrides, Prerequisite, RunOptions, Scale } from "../../lib/recipe/recipe.ts";
import { type CellContext, type CellOutcome, runRecorded } from "../../lib/recipe/run_recorded.ts";
import { checkInstruction } from "../../lib/reflector/check_instruction.ts";
import { type Bm25Index, createBm25Index } from "../../lib/retrieval/bm25.ts";
import { readCorpus } from "../../lib/retrieval/read_corpus.ts";
import type { RetrieverProtocol } from "../../lib/retrieval/retriever.ts";
import { API_CLAIMS, API_METRICS } from "./api_metrics.ts";
import { emCurves } from "./micro_metrics.ts";
import { cellChatClient, cellReflector, reflectorIdentity } from "./language_model_reflector.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The panel that is used where no data folder is named: 500 HotpotQA development questions. */
const HOTPOT_PANEL = join(ROOT, "data/panels/hotpotqa-500.json");

/** Search-R1's loop, without its traps; pyserini's BM25 settings for passages. */
const API_PROTOCOL: SearchQaProtocol = SEARCH_QA_PROTOCOL;
const BM25 = { k1: 0.9, b: 0.4 } as const;

/** INSPO with a frozen policy; N, the 4 failures, the top-1 parent and 200 samples are the paper's, the rest our choice. */
const API_INSPO: InspoSettings = {
  populationSize: 7,
  samplingTemperature: 0.1,
  weightRate: 0.2,
  evolutionInterval: 10,
  candidates: 3,
  failuresPerReflection: 4,
  bufferCapacity: 256,
  parents: "top-1",
  verification: PAPER_VERIFICATION,
  trainsPolicy: false,
};

const API_LOOP = { groupsPerStep: 8, groupSize: 4, budget: 6000, temperature: 1, evaluationInterval: 2000 } as const;

/** Calls to the model keep their order, so one checkpoint a step loses no paid call. */
const CHECKPOINT_INTERVAL = 1;

const NO_DATA =
  "scale api needs real questions and paragraphs: give --data DIR with questions.jsonl and corpus.jsonl (recipes/inspo/README.md has the form), or set COEVO_SHARED";

/** Everything that decides what an api cell computes, as far as a model behind an API can be held to it. */
interface ApiSettings {
  budget: number;
  model: string;
  panel: { name: string; hash: string };
  retriever: RetrieverProtocol;
  protocol: SearchQaProtocol;
  loop: typeof API_LOOP;
  seedInstruction: string;
  inspo: InspoSettings | null;
  reflector: string | null;
}

/** Instruction evolution with a frozen real model on real questions. */
export const API_SCALE: Scale = {
  name: "api",
  description: "instruction evolution with a frozen model behind an OpenAI-compatible endpoint, real questions, BM25",
  engine: "none: chat completions of --model (OPENAI_API_KEY, OPENAI_BASE_URL)",
  data:
    "--data DIR, or the 500 HotpotQA questions of COEVO_SHARED (panel hotpotqa-500: 100 training, 200 verification, 200 test)",
  arms: {
    "static-instruction": { description: "the frozen model with Search-R1's instruction; evaluated once" },
    "inspo-no-rl": { description: "INSPO's instruction evolution around the frozen model" },
  },
  defaultArms: ["static-instruction", "inspo-no-rl"],
  defaultSeeds: [1],
  budget: API_LOOP.budget,
  differences: [
    "the policy's weights are frozen: only the text evolves (paper: GRPO)",
    "policy: the model that --model names (paper: Qwen2.5-3B and 7B)",
    "data: 500 HotpotQA development questions split in three (paper: NQ and HotpotQA training sets, seven test sets)",
    "retrieval: BM25 over the paragraphs of these questions (Search-R1: E5 over 21 million passages)",
    "observation limit in characters, 4 a token: a model behind an API has no tokenizer here",
    "scorer: the answer that ended the trajectory (Search-R1: the last of at least two tag pairs, prompt included)",
    "verification decoded greedily, accepted against the worst survivor on the same 200 questions (our choice)",
  ],
  metrics: API_METRICS,
  curves: [emCurves("greedy", "Exact match, greedy")],
  claims: API_CLAIMS,
  cellSeconds: 1800,
  grid: null,
  prerequisites,
  resolve,
  prepare: () => Promise.resolve(),
  runCell,
};

/** Folder and names of the data files. */
function dataFiles(options: RunOptions): { questions: string; corpus: string; name: string } | null {
  if (options.dataDir !== undefined) {
    return {
      questions: join(options.dataDir, "questions.jsonl"),
      corpus: join(options.dataDir, "corpus.jsonl"),
      name: "custom",
    };
  }
  const shared = process.env.COEVO_SHARED ?? "../shared";
  const questions = join(shared, "data/qa/hotpot500_questions.jsonl");
  return existsSync(questions)
    ? { questions, corpus: join(shared, "data/qa/hotpot500_corpus.jsonl"), name: "hotpotqa-500" }
    : null;
}

function prerequisites(options: RunOptions, overrides: Overrides): Promise<Prerequisite[]> {
  const files = dataFiles(options);
  const hasData = files !== null && existsSync(files.questions) && existsSync(files.corpus);
  const hasEndpoint = process.env.OPENAI_API_KEY !== undefined || process.env.OPENAI_BASE_URL !== undefined;
  return Promise.resolve([
    { what: "questions and corpus", isMet: hasData, remedy: NO_DATA },
    { what: "a model's name", isMet: overrides.model !== undefined, remedy: "scale api needs --model NAME" },
    {
      what: "an endpoint",
      isMet: hasEndpoint,
      remedy: "scale api needs OPENAI_API_KEY, or OPENAI_BASE_URL of a server of your own",
    },
    {
      what: "a price for --max-cost",
      isMet: options.maxCostUsd === undefined || options.price !== undefined,
      remedy: "--max-cost needs --price IN,OUT (USD per million tokens)",
    },
  ]);
}

/** Questions and search engine of a data folder; read once in a process. */
const loaded = new Map<string, Promise<{ panel: Panel; tasks: PanelTasks; retriever: Bm25Index }>>();

function loadData(options: RunOptions): Promise<{ panel: Panel; tasks: PanelTasks; retriever: Bm25Index }> {
  const files = dataFiles(options);
  if (files === null || !existsSync(files.questions) || !existsSync(files.corpus)) throw new UsageError(NO_DATA);
  const key = files.questions;
  const data = loaded.get(key) ?? readData(files);
  loaded.set(key, data);
  return data;
}

async function readData(
  files: { questions: string; corpus: string; name: string },
): Promise<{ panel: Panel; tasks: PanelTasks; retriever: Bm25Index }> {
  const questions = await readQuestions(files.questions, files.name);
  const panel = files.name === "custom"
    ? splitQuestions("custom", "--data", questions)
    : panelFile.parse(JSON.parse(await readFile(HOTPOT_PANEL, "utf8")));
  return {
    panel,
    tasks: panelTasks(panel, questions),
    retriever: createBm25Index(await Array.fromAsync(readCorpus(files.corpus)), BM25),
  };
}

async function resolve(
  arm: string,
  seed: number,
  overrides: Overrides,
  options: RunOptions,
): Promise<Pick<Cell, "settings" | "variant" | "budget">> {
  const { model } = overrides;
  if (model === undefined) throw new UsageError("scale api needs --model NAME");
  const { panel, retriever } = await loadData(options);
  const evolves = arm === "inspo-no-rl";
  // The static instruction has nothing to learn, so it spends no training rollouts.
  const budget = evolves ? overrides.rollouts ?? API_LOOP.budget : 0;
  const flag = overrides.reflector ?? "openai";
  if (flag === "offline") {
    throw new UsageError(
      "--reflector offline knows the micro world's words only; scale api takes openai or replay:FILE",
    );
  }
  const settings: ApiSettings = {
    budget,
    model,
    panel: { name: panel.name, hash: panel.hash },
    retriever: retriever.protocol,
    protocol: API_PROTOCOL,
    loop: API_LOOP,
    seedInstruction: SEARCH_R1_INSTRUCTION,
    inspo: evolves ? API_INSPO : null,
    reflector: evolves
      ? await reflectorIdentity(flag, process.env.COEVO_REFLECTOR_MODEL ?? model, { arm, seed })
      : null,
  };
  const variant = {
    model,
    ...(panel.name === "custom" ? { data: panel.hash.slice(0, 8) } : {}),
    ...(evolves && budget !== API_LOOP.budget ? { rollouts: budget } : {}),
    ...(evolves && flag !== "openai" ? { reflector: settings.reflector as string } : {}),
  };
  return { settings: settings as unknown as Cell["settings"], variant, budget };
}

async function runCell(cell: Cell, context: CellContext): Promise<CellOutcome> {
  const settings = cell.settings as unknown as ApiSettings;
  const { tasks, retriever } = await loadData(context.options);
  const client = cellChatClient(settings.model, context);
  return await runRecorded<QaTask>({
    loop: {
      seed: cell.seed,
      engine: null,
      environment: searchQaEnvironment(chatPolicy(client), retriever, settings.protocol),
      method: createMethod(cell, settings, tasks.verification, context),
      trainingTasks: tasks.train,
      taskId: ({ id }) => id,
      groupsPerStep: settings.loop.groupsPerStep,
      groupSize: settings.loop.groupSize,
      budget: settings.budget,
      temperature: settings.loop.temperature,
      evaluationInterval: settings.loop.evaluationInterval,
      panels: [{ name: settings.panel.name, tasks: tasks.test, decodings: [{ name: "greedy", temperature: 0 }] }],
    },
    takeCost: null,
    checkpointInterval: CHECKPOINT_INTERVAL,
  }, context);
}

function createMethod(
  cell: Cell,
  settings: ApiSettings,
  verificationTasks: readonly QaTask[],
  context: CellContext,
): Method<QaTask> {
  if (settings.inspo === null) return staticMethod({ id: "i0", text: settings.seedInstruction });
  const answerTagScope = settings.protocol.answerScope === "prompt-and-response" ? "prompt-and-response" : "response";
  return inspoMethod<QaTask>({
    seed: cell.seed,
    training: null,
    seedInstruction: settings.seedInstruction,
    settings: settings.inspo,
    reflector: cellReflector(settings.reflector ?? "openai", cell, context, () => {
      throw new UsageError("scale api has no reflector of its own");
    }),
    verificationTasks,
    describeFailure,
    constraints: [
      "The instruction must tell the policy to search with <search> query </search> and to answer with <answer> answer </answer>.",
      "It must not contain the question or an answer to it.",
    ],
    checkInstruction: (text) => checkInstruction(text, { answerTagScope }),
    instructionKey: (text) => text.replace(/\s+/g, " ").trim(),
  });
}
