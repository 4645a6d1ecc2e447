import process from "node:process";
import type { ChatClient } from "../../lib/api/chat_client.ts";
import { chatPolicy } from "../../lib/environment/chat_policy.ts";
import { SEARCH_R1_INSTRUCTION } from "../../lib/environment/search_qa/prompt.ts";
import { SEARCH_QA_PROTOCOL } from "../../lib/environment/search_qa/protocol.ts";
import { searchQaEnvironment } from "../../lib/environment/search_qa/rollout.ts";
import type { QaTask } from "../../lib/environment/search_qa/task.ts";
import { inspoMethod } from "../../lib/method/inspo/method.ts";
import type { InspoSettings } from "../../lib/method/inspo/settings.ts";
import { staticMethod } from "../../lib/method/static.ts";
import type { Method } from "../../lib/method/method.ts";
import { UsageError } from "../../lib/recipe/command_line.ts";
import {
  type Cell,
  type Overrides,
  type Prerequisite,
  type RunOptions,
  type Scale,
  settingsOf,
} from "../../lib/recipe/recipe.ts";
import { type CellContext, type CellOutcome, runRecorded } from "../../lib/recipe/run_recorded.ts";
import { checkInstruction } from "../../lib/reflector/check_instruction.ts";
import { CUSTOM_PANEL, loadApiData, missingData } from "./api_data.ts";
import { estimateLines } from "./api_estimate.ts";
import { API_CLAIMS, API_METRICS } from "./api_metrics.ts";
import { API_INSPO, API_LOOP, type ApiSettings } from "./api_settings.ts";
import { describeFailure } from "./describe_failure.ts";
import {
  cellChatClient,
  cellReflector,
  endpointPrerequisite,
  reflectorIdentity,
  requireRecordings,
} from "./language_model_reflector.ts";
import { emCurves } from "./micro_metrics.ts";

/** One checkpoint a step: the call log answers what is asked again, so a killed run pays for nothing twice. */
const CHECKPOINT_INTERVAL = 1;

const NO_MODEL = "scale api needs --model NAME: the model as its server calls it";

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
    "data: 500 HotpotQA development questions, or those of --data, split in three (paper: NQ and HotpotQA for training, seven test sets)",
    "retrieval: BM25 over the paragraphs of these questions (Search-R1: E5 over 21 million passages)",
    "observation limit in characters, 4 a token: a model behind an API has no tokenizer here",
    "scorer: the answer that ended the trajectory (Search-R1: the last of at least two tag pairs, prompt included)",
    "verification decoded greedily, accepted against the worst survivor on the same 200 questions (our choice)",
  ],
  metrics: API_METRICS,
  curves: [emCurves("greedy", "Exact match, greedy")],
  claims: API_CLAIMS,
  cellSeconds: null,
  grid: null,
  prerequisites,
  estimate: estimateLines,
  resolve,
  prepare: (cells) => Promise.try(requireRecordings, cells),
  runCell,
};

function prerequisites(options: RunOptions, { model }: Overrides): Promise<Prerequisite[]> {
  const missing = missingData(options);
  return Promise.resolve([
    { what: "questions and corpus", isMet: missing === null, remedy: missing ?? "" },
    { what: "a model's name", isMet: model !== undefined, remedy: NO_MODEL },
    endpointPrerequisite(model ?? "the model"),
  ]);
}

async function resolve(
  arm: string,
  seed: number,
  overrides: Overrides,
  options: RunOptions,
): Promise<Pick<Cell, "settings" | "variant" | "budget">> {
  const { model } = overrides;
  if (model === undefined) throw new UsageError(NO_MODEL);
  const flag = overrides.reflector ?? "openai";
  if (flag === "offline") {
    throw new UsageError(
      "--reflector offline knows the micro world's words only; scale api takes openai or replay:FILE",
    );
  }
  const { panel, tasks, retriever } = await loadApiData(options);
  const evolves = arm === "inspo-no-rl";
  // The static instruction has nothing to learn, so it spends no training rollouts.
  const budget = evolves ? overrides.rollouts ?? API_LOOP.budget : 0;
  const reflector = evolves
    ? await reflectorIdentity(flag, process.env.COEVO_REFLECTOR_MODEL || model, { arm, seed })
    : null;
  const settings = {
    budget,
    model,
    panel: {
      name: panel.name,
      hash: panel.hash,
      train: tasks.train.length,
      verification: tasks.verification.length,
      test: tasks.test.length,
    },
    retriever: retriever.protocol,
    protocol: SEARCH_QA_PROTOCOL,
    loop: API_LOOP,
    seedInstruction: SEARCH_R1_INSTRUCTION,
    inspo: evolves ? verifyingOn(tasks.verification.length) : null,
    reflector,
  } satisfies ApiSettings;
  const variant = {
    model,
    ...(panel.name === CUSTOM_PANEL ? { data: panel.hash.slice(0, 8) } : {}),
    ...(evolves && budget !== API_LOOP.budget ? { rollouts: budget } : {}),
    ...(reflector === null || reflector === `openai:${model}` ? {} : { reflector }),
  };
  return { settings, variant, budget };
}

/** INSPO's settings with as many verification samples as there are questions for it. */
function verifyingOn(questions: number): InspoSettings {
  const { verification } = API_INSPO;
  if (verification === null) return API_INSPO;
  return { ...API_INSPO, verification: { ...verification, samples: Math.min(verification.samples, questions) } };
}

async function runCell(cell: Cell, context: CellContext): Promise<CellOutcome> {
  const settings = settingsOf<ApiSettings>(cell);
  const { tasks, retriever } = await loadApiData(context.options);
  const client = await cellChatClient(settings.model, context);
  return await runRecorded<QaTask>({
    loop: {
      seed: cell.seed,
      engine: null,
      environment: searchQaEnvironment(chatPolicy(client), retriever, settings.protocol),
      method: await createMethod(cell, settings, tasks.verification, client, context),
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

async function createMethod(
  cell: Cell,
  settings: ApiSettings,
  verificationTasks: readonly QaTask[],
  client: ChatClient,
  context: CellContext,
): Promise<Method<QaTask>> {
  if (settings.inspo === null) return staticMethod({ id: "i0", text: settings.seedInstruction });
  const answerTagScope = settings.protocol.answerScope === "prompt-and-response" ? "prompt-and-response" : "response";
  return inspoMethod<QaTask>({
    seed: cell.seed,
    training: null,
    seedInstruction: settings.seedInstruction,
    settings: settings.inspo,
    reflector: await cellReflector(settings.reflector ?? "openai", cell, context, {
      // One budget, one call log and one number of places for both models.
      chatClient: (name) => Promise.resolve(client.forModel(name)),
      ownReflector: () => {
        throw new UsageError("scale api has no reflector of its own");
      },
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
