import { DEFAULT_PRIOR, LONGEST_INSTRUCTION } from "../../lib/environment/hop_search/demonstrations.ts";
import { INVALID_ACTION } from "../../lib/environment/hop_search/vocabulary.ts";
import type { WarmStartSettings } from "../../lib/environment/hop_search/warm_start.ts";
import { SEARCH_QA_PROTOCOL, type SearchQaProtocol } from "../../lib/environment/search_qa/protocol.ts";
import type { GrpoSettings } from "../../lib/method/grpo.ts";
import { PAPER_INSPO } from "./paper.ts";
import { type InspoSettings, MICRO_VERIFICATION } from "../../lib/method/inspo/settings.ts";

/** The micro policy: 112 words, 2 layers, width 64. */
export const MICRO_MODEL = { layers: 2, width: 64, heads: 4, feedForward: 256, contextLength: 96 } as const;

/** How the shipped base policy was made; `deno task train-base` makes it again and compares. */
export const WARM_START: WarmStartSettings = {
  seed: 1,
  steps: 1600,
  batch: 64,
  learningRate: 2e-3,
  warmupSteps: 50,
  decayShare: 0.3,
  prior: DEFAULT_PRIOR,
};

/** Search-R1's loop on words: shorter limits, one passage, no template around it. */
export const MICRO_PROTOCOL: SearchQaProtocol = {
  ...SEARCH_QA_PROTOCOL,
  maxTurns: 4, // Search-R1 v0.2, max_turns
  maxTurnTokens: 8,
  maxObservationTokens: 16,
  topK: 1,
  passageFormat: "contents",
  invalidActionText: INVALID_ACTION,
};

/** Search-R1's GRPO at the size of the micro policy; behind each setting what Search-R1 v0.2 has. */
export const MICRO_GRPO: GrpoSettings = {
  learningRate: 1e-4, // 1e-6; calibrated on the static arm (README, "The micro world and its calibration")
  warmupSteps: 0, // .285 of all steps
  miniBatches: 2, // 10: 2,560 trajectories in mini-batches of 256
  clipLow: 0.2, // .2, yaml default
  clipHigh: 0.2, // .2
  klCoef: 0.005, // .001
  aggregation: "seq-mean-token-mean", // token-mean in the code; the paper's formula averages each sequence first
  maxGradNorm: 1, // 1, yaml default
  adamBetas: [0.9, 0.95], // .9, .999
  weightDecay: 0, // .01
};

/** INSPO at micro scale; what {@link PAPER_INSPO} does not name is our choice. */
export const MICRO_INSPO: InspoSettings = {
  ...PAPER_INSPO,
  samplingTemperature: 0.1,
  weightRate: 0.2,
  evolutionInterval: 15,
  candidates: 6,
  bufferCapacity: 512,
  verification: MICRO_VERIFICATION, // note: 200 samples
};

/** The loop. */
export const MICRO_LOOP = {
  seedInstruction: "please carefully",
  groupsPerStep: 8,
  groupSize: 8, // Search-R1: 5
  budget: 6400,
  temperature: 1, // Search-R1, App. B
  evaluationInterval: 800,
} as const;

/** Name of the panel: the test questions of a seed's world. */
export const MICRO_PANEL = "hop-search-test";

/** Greedy decoding exaggerates what an instruction does to a policy that is undecided, so both are reported. */
export const MICRO_DECODINGS = [{ name: "T=1", temperature: 1 }, { name: "greedy", temperature: 0 }] as const;

/** Most words of a micro instruction: what the base policy was taught to read. */
export const MICRO_INSTRUCTION_WORDS: number = LONGEST_INSTRUCTION;
