import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { enginePolicy } from "../../lib/environment/engine_policy.ts";
import { createHopSearchWorld } from "../../lib/environment/hop_search/world.ts";
import { searchQaEnvironment } from "../../lib/environment/search_qa/rollout.ts";
import { hashSeed } from "../../lib/random/stream.ts";
import { resumePoint } from "../../lib/record/checkpoint.ts";
import { readRun } from "../../lib/record/read_run.ts";
import { UsageError } from "../../lib/recipe/command_line.ts";
import type { CheckpointScore } from "../../lib/recipe/evaluate_checkpoint.ts";
import { createPolicyEngine } from "./base_policy.ts";
import { MICRO_DECODINGS, MICRO_LOOP, MICRO_PANEL, MICRO_PROTOCOL } from "./micro_settings.ts";

/**
 * Scores weights on the test questions of a seed's world. A run's directory stands for its last checkpoint, read under
 * the instruction that its last evaluation used; other weights are read under the seed instruction.
 *
 * @param path a run's directory, a folder with model.safetensors, or such a file
 * @throws {UsageError} if there are no weights
 */
export async function evaluateMicroCheckpoint(path: string, seed: number): Promise<CheckpointScore> {
  const { file, instruction } = await locate(path);
  const bytes = await readFile(file);
  const engine = createPolicyEngine(seed);
  await engine.loadWeights(bytes);
  const { questions, retriever } = createHopSearchWorld(seed);
  const environment = searchQaEnvironment(enginePolicy(engine), retriever, MICRO_PROTOCOL);
  const scores: CheckpointScore["scores"][number][] = [];
  for (const decoding of MICRO_DECODINGS) {
    const requests = questions.test.map((task, index) => ({
      task,
      conditioning: { id: null, text: instruction },
      seed: hashSeed(seed, "checkpoint", decoding.name, index),
    }));
    const trajectories = await environment.rollout(requests, decoding);
    const successes = trajectories.filter(({ reward }) => reward === 1).length;
    scores.push({ panel: MICRO_PANEL, decoding: decoding.name, n: trajectories.length, successes });
  }
  await engine.close();
  return { seed, weights: createHash("sha256").update(bytes).digest("hex"), instruction, scores };
}

async function locate(path: string): Promise<{ file: string; instruction: string }> {
  if (existsSync(path) && (await stat(path)).isFile()) return { file: path, instruction: MICRO_LOOP.seedInstruction };
  const own = join(path, "model.safetensors");
  if (existsSync(own)) return { file: own, instruction: MICRO_LOOP.seedInstruction };
  const resume = existsSync(join(path, "config.json")) ? await resumePoint(path) : null;
  if (resume === null) {
    throw new UsageError(
      `--evaluate: no weights in ${JSON.stringify(path)}: give a run's directory, or a model.safetensors`,
    );
  }
  return { file: join(resume.enginePath, "model.safetensors"), instruction: await evaluatedInstruction(path) };
}

/** The instruction that a run's last evaluation read. */
async function evaluatedInstruction(directory: string): Promise<string> {
  const { journal } = await readRun(directory);
  const id = journal.findLast((entry) => entry.type === "evaluation")?.conditioning ?? null;
  const written = journal.find((entry) =>
    entry.type === "event" && entry.name === "instruction" && entry.data.id === id
  );
  return written?.type === "event" ? String(written.data.text) : MICRO_LOOP.seedInstruction;
}
