import { INSTRUCTION_WORDS } from "../../lib/environment/hop_search/vocabulary.ts";
import type { WarmStartSettings } from "../../lib/environment/hop_search/warm_start.ts";
import { createHopSearchWorld } from "../../lib/environment/hop_search/world.ts";
import { groupKeyOf } from "../../lib/environment/search_qa/group_key.ts";
import { searchQaEnvironment } from "../../lib/environment/search_qa/rollout.ts";
import type { QaTask } from "../../lib/environment/search_qa/task.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { timedEngine } from "../../lib/engine/timed_engine.ts";
import { grpoMethod, type GrpoSettings, REFERENCE } from "../../lib/method/grpo.ts";
import { inspoMethod } from "../../lib/method/inspo/method.ts";
import type { InspoSettings } from "../../lib/method/inspo/settings.ts";
import type { Method } from "../../lib/method/method.ts";
import { staticMethod } from "../../lib/method/static.ts";
import { type Cell, type Overrides, type Scale, settingsOf } from "../../lib/recipe/recipe.ts";
import { type CellContext, type CellOutcome, runRecorded } from "../../lib/recipe/run_recorded.ts";
import type { Reflector } from "../../lib/reflector/reflector.ts";
import { offlineReflector, randomEditReflector, wordSetKey } from "../../lib/reflector/word_edits.ts";
import { MICRO_ARMS } from "./arms.ts";
import { basePolicyFile, basePolicyHash, createPolicyEngine, ensureBasePolicy, policyOf } from "./base_policy.ts";
import { checkWords, wordConstraints } from "./check_words.ts";
import { describeFailure } from "./describe_failure.ts";
import { HOP_SEARCH_DIAGNOSES } from "./diagnoses.ts";
import {
  cellReflector,
  endpointPrerequisite,
  reflectorIdentity,
  reflectorModel,
  requireRecordings,
} from "./language_model_reflector.ts";
import { emCurves, MICRO_CLAIMS, MICRO_METRICS } from "./micro_metrics.ts";
import { evaluateMicroCheckpoint } from "./micro_evaluation.ts";
import {
  MICRO_DECODINGS,
  MICRO_GRPO,
  MICRO_INSPO,
  MICRO_INSTRUCTION_WORDS,
  MICRO_LOOP,
  MICRO_MODEL,
  MICRO_PANEL,
  MICRO_PROTOCOL,
  WARM_START,
} from "./micro_settings.ts";

/** Steps between checkpoints: about half a second of work. */
const CHECKPOINT_INTERVAL = 10;

/** Everything that decides what a micro cell computes. */
interface MicroSettings {
  budget: number;
  model: typeof MICRO_MODEL & { weights: string };
  warmStart: WarmStartSettings;
  protocol: typeof MICRO_PROTOCOL;
  loop: typeof MICRO_LOOP;
  /** Null where the policy is frozen. */
  grpo: GrpoSettings | null;
  inspo: InspoSettings | null;
  /** `offline`, `random-edits`, `openai:<model>` or `replay:<hash of the recording>`; null for a static instruction. */
  reflector: string | null;
}

/** INSPO on the embedded engine and a generated encyclopaedia. */
export const MICRO_SCALE: Scale = {
  name: "micro",
  description: "the real algorithm on an embedded micro model and a generated encyclopaedia",
  engine: "micro (embedded, WebAssembly SIMD, one thread a cell)",
  data: "hop-search: 288 generated facts a seed; 400 training, 100 verification and 200 test questions of 1 to 3 hops",
  arms: MICRO_ARMS,
  defaultArms: ["search-r1-grpo", "inspo", "inspo-fixed-population", "inspo-random-edits"],
  defaultSeeds: [1, 2, 3, 4, 5],
  budget: MICRO_LOOP.budget,
  differences: [
    "policy: a transformer of 115 thousand parameters, warm-started on demonstrations (paper: Qwen2.5-3B and 7B)",
    "data: a generated encyclopaedia with 1 to 3 hops (paper: NQ and HotpotQA for training, seven test sets)",
    "retrieval: BM25, 1 passage (Search-R1: E5, 3 passages)",
    "limits: turn 8 tokens, observation 16, instruction 5 words (Search-R1: 500, 500, 2,048 tokens)",
    "turns stop at the action; a long observation keeps its closing tag; the answer that ended the trajectory is scored (Search-R1 cuts afterwards, drops the tag, scores the last of two tag pairs, prompt included)",
    "verification: 64 samples at T = 1 against the survivors' running weights (third-party note: 200 samples)",
    "reflector: offline rules or a language model that picks from 44 words (paper: a language model)",
    "GRPO: learning rate 1e-4 without warm-up, group of 8, KL .005, Adam (.9, .95) without decay, 2 mini-batches dealt in turn, loss averaged per sequence (Search-R1: 1e-6 with warm-up, 5, .001, (.9, .999) with .01, 10, per token)",
    "sampling: top-p 1; training questions are drawn with replacement; old log-probabilities are those of sampling (Search-R1: .95, epochs, recomputed)",
    "evaluation: 200 held-out questions of the same world, sampled and greedy (paper: seven sets)",
  ],
  metrics: MICRO_METRICS,
  curves: [emCurves("T=1", "Exact match, sampled at T = 1"), emCurves("greedy", "Exact match, greedy")],
  claims: MICRO_CLAIMS,
  cellSeconds: 8,
  grid: {
    axes: { "learning-rate": [3e-5, 1e-4, 3e-4], "chain-prior": [0, 0.005, 0.02] },
    arms: ["search-r1-grpo", "inspo"],
    seeds: [1, 2, 3],
  },
  prerequisites: (_options, { reflector }) =>
    Promise.resolve(reflector === "openai" ? [endpointPrerequisite(reflectorModel())] : []),
  resolve,
  prepare: async (cells, report) => {
    requireRecordings(cells);
    for (const cell of cells) await ensureBasePolicy(settingsOf<MicroSettings>(cell).warmStart, report);
  },
  runCell,
  evaluate: evaluateMicroCheckpoint,
};

async function resolve(
  arm: string,
  seed: number,
  overrides: Overrides,
): Promise<Pick<Cell, "settings" | "variant" | "budget">> {
  if (overrides.model !== undefined) {
    throw new RangeError("--model: scale micro has one model of its own; --scale api takes a model");
  }
  const { inspo, isFrozen = false, reflector: armReflector } = MICRO_ARMS[arm];
  const chain = overrides.grid?.["chain-prior"] ?? WARM_START.prior.chain;
  const learningRate = overrides.grid?.["learning-rate"] ?? MICRO_GRPO.learningRate;
  const budget = overrides.rollouts ?? MICRO_LOOP.budget;
  const stepRollouts = MICRO_LOOP.groupsPerStep * MICRO_LOOP.groupSize;
  if (budget < stepRollouts) {
    throw new RangeError(
      `--rollouts ${budget}: one step takes ${stepRollouts} rollouts, so a budget needs at least that many`,
    );
  }
  const reflector = inspo === null
    ? null
    : armReflector === "offline" && overrides.reflector !== undefined
    ? await reflectorIdentity(overrides.reflector, reflectorModel(), { arm, seed })
    : armReflector;
  const warmStart = { ...WARM_START, prior: withChainPrior(chain) };
  const settings = {
    budget,
    // A base policy that is still to be trained is named by what decides its weights.
    model: { ...MICRO_MODEL, weights: await basePolicyHash(warmStart).catch(() => "not trained yet") },
    warmStart,
    protocol: MICRO_PROTOCOL,
    loop: MICRO_LOOP,
    grpo: isFrozen ? null : { ...MICRO_GRPO, learningRate },
    inspo: inspo === null ? null : { ...MICRO_INSPO, ...inspo },
    reflector,
  } satisfies MicroSettings;
  const variant = {
    ...(budget === MICRO_LOOP.budget ? {} : { rollouts: budget }),
    ...(reflector === null || reflector === armReflector ? {} : { reflector }),
    ...(learningRate === MICRO_GRPO.learningRate ? {} : { "learning-rate": learningRate }),
    ...(chain === WARM_START.prior.chain ? {} : { "chain-prior": chain }),
  };
  return { settings, variant, budget };
}

/** The demonstrations' prior with another share of chaining; `look` gives or takes the rest. */
function withChainPrior(chain: number): WarmStartSettings["prior"] {
  const { prior } = WARM_START;
  return { ...prior, chain, look: prior.look + prior.chain - chain };
}

async function runCell(cell: Cell, context: CellContext): Promise<CellOutcome> {
  const settings = settingsOf<MicroSettings>(cell);
  const microEngine = createPolicyEngine(cell.seed);
  await microEngine.loadWeights(basePolicyFile(settings.warmStart));
  const { engine, takeCost } = timedEngine(microEngine);
  if (settings.grpo !== null && settings.grpo.klCoef > 0) await engine.snapshot(REFERENCE);
  const { questions, retriever } = createHopSearchWorld(cell.seed);
  const policy = policyOf(engine, settings.protocol);
  try {
    return await runRecorded<QaTask>({
      loop: {
        seed: cell.seed,
        engine,
        environment: searchQaEnvironment(policy, retriever, settings.protocol),
        method: await createMethod(cell, settings, engine, questions.verification, context),
        trainingTasks: questions.train,
        taskId: ({ id }) => id,
        groupsPerStep: settings.loop.groupsPerStep,
        groupSize: settings.loop.groupSize,
        budget: settings.budget,
        temperature: settings.loop.temperature,
        evaluationInterval: settings.loop.evaluationInterval,
        panels: [{ name: MICRO_PANEL, tasks: questions.test, decodings: MICRO_DECODINGS }],
      },
      takeCost,
      checkpointInterval: CHECKPOINT_INTERVAL,
    }, context);
  } finally {
    await engine.close();
  }
}

async function createMethod(
  cell: Cell,
  settings: MicroSettings,
  engine: Engine,
  verificationTasks: readonly QaTask[],
  context: CellContext,
): Promise<Method<QaTask>> {
  const { seedInstruction } = settings.loop;
  const groupKey = groupKeyOf(settings.protocol);
  const seedText = { id: "i0", text: seedInstruction };
  if (settings.inspo === null) {
    return settings.grpo === null ? staticMethod(seedText) : grpoMethod(engine, seedText, settings.grpo, groupKey);
  }
  return inspoMethod<QaTask>({
    seed: cell.seed,
    training: settings.grpo === null ? null : { engine, grpo: settings.grpo, groupKey },
    seedInstruction,
    settings: settings.inspo,
    reflector: await cellReflector(settings.reflector ?? "offline", cell, context, { ownReflector }),
    verificationTasks,
    describeFailure,
    constraints: wordConstraints(MICRO_INSTRUCTION_WORDS),
    checkInstruction: (text) => checkWords(text, MICRO_INSTRUCTION_WORDS),
    instructionKey: wordSetKey,
  });
}

/** The reflectors that need no language model. */
function ownReflector(identity: string): Reflector {
  const edits = { words: INSTRUCTION_WORDS, longest: MICRO_INSTRUCTION_WORDS };
  return identity === "random-edits" ? randomEditReflector(edits) : offlineReflector(HOP_SEARCH_DIAGNOSES, edits);
}
