import type { SearchQaProtocol } from "../../lib/environment/search_qa/protocol.ts";
import { PAPER_INSPO } from "./paper.ts";
import { type InspoSettings, PAPER_VERIFICATION } from "../../lib/method/inspo/settings.ts";
import type { RetrieverProtocol } from "../../lib/retrieval/retriever.ts";

/** INSPO with a frozen policy; what {@link PAPER_INSPO} does not name is our choice. */
export const API_INSPO: InspoSettings = {
  ...PAPER_INSPO,
  samplingTemperature: 0.1,
  weightRate: 0.2,
  evolutionInterval: 10,
  candidates: 3,
  bufferCapacity: 256,
  verification: PAPER_VERIFICATION, // fewer questions where the data has fewer
};

/** The loop: five generations of instructions. */
export const API_LOOP = {
  groupsPerStep: 8,
  groupSize: 4, // Search-R1: 5
  budget: 6000,
  temperature: 1, // Search-R1, App. B
  evaluationInterval: 2000,
} as const;

/** Everything that decides what an api cell computes, as far as a model behind an API can be held to it. */
export interface ApiSettings {
  budget: number;
  model: string;
  /** The questions by name and hash, and how many there are in each split. */
  panel: { name: string; hash: string; train: number; verification: number; test: number };
  retriever: RetrieverProtocol;
  protocol: SearchQaProtocol;
  loop: typeof API_LOOP;
  seedInstruction: string;
  inspo: InspoSettings | null;
  /** `openai:<model>` or `replay:<hash of the recording>`; null for the static instruction. */
  reflector: string | null;
}
