import type { Engine } from "../../lib/engine/engine.ts";
import { createHopSearchWorld } from "../../lib/environment/hop_search/world.ts";
import { searchQaEnvironment } from "../../lib/environment/search_qa/rollout.ts";
import { hashSeed } from "../../lib/random/stream.ts";
import { policyOf } from "./base_policy.ts";
import { MICRO_LOOP, MICRO_PROTOCOL } from "./micro_settings.ts";

/** What a policy can do under one instruction. */
export interface Capability {
  instruction: string;
  /** Exact match at T = 1 and greedy on the test questions of a world of its own. */
  sampled: number;
  greedy: number;
  /** Greedy exact match on the questions of three hops. */
  greedyThreeHops: number;
}

/** Seed of the world that capabilities are measured in; no cell uses it. */
const WORLD = 1_000_003;

/** What the base policy does under the seed instruction, under words that name a strategy, and under words that do not. */
export async function measureCapability(engine: Engine): Promise<Capability[]> {
  const instructions = [
    MICRO_LOOP.seedInstruction,
    "step only",
    "decompose short",
    "search",
    "memory",
    "step explain",
    "kindly assist",
  ];
  const results: Capability[] = [];
  for (const instruction of instructions) results.push(await measure(engine, instruction));
  return results;
}

async function measure(engine: Engine, instruction: string): Promise<Capability> {
  const { questions, retriever } = createHopSearchWorld(WORLD);
  const environment = searchQaEnvironment(policyOf(engine, MICRO_PROTOCOL), retriever, MICRO_PROTOCOL);
  const requests = questions.test.map((task, index) => ({
    task,
    conditioning: { id: null, text: instruction },
    seed: hashSeed(WORLD, "capability", index),
  }));
  const sampled = await environment.rollout(requests, { temperature: 1 });
  const greedy = await environment.rollout(requests, { temperature: 0 });
  const mean = (rewards: readonly number[]) => rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  return {
    instruction,
    sampled: mean(sampled.map(({ reward }) => reward)),
    greedy: mean(greedy.map(({ reward }) => reward)),
    greedyThreeHops: mean(greedy.filter(({ task }) => task.source === "hop-3").map(({ reward }) => reward)),
  };
}

/** What the micro world needs of its base policy and this one lacks; empty if nothing. */
export function missingCapabilities(capability: readonly Capability[]): string[] {
  const of = (instruction: string) => capability.find((each) => each.instruction === instruction);
  const seed = of(MICRO_LOOP.seedInstruction);
  const chain = of("step only");
  const missing: string[] = [];
  if (chain === undefined || chain.greedy < 0.85) {
    missing.push('"step only" must solve at least 85 % of the questions greedily');
  }
  if (chain === undefined || chain.greedyThreeHops < 0.6) {
    missing.push('"step only" must solve at least 60 % of the three-hop questions greedily');
  }
  if (seed === undefined || seed.sampled > 0.35) {
    missing.push("the seed instruction must leave room: at most 35 % sampled");
  }
  return missing;
}
