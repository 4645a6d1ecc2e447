import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { createHopSearchWorld } from "../../lib/environment/hop_search/world.ts";
import { searchQaEnvironment } from "../../lib/environment/search_qa/rollout.ts";
import { hashSeed } from "../../lib/random/stream.ts";
import { resumePoint } from "../../lib/record/checkpoint.ts";
import { readRun } from "../../lib/record/read_run.ts";
import { RUN_FILES } from "../../lib/record/run_files.ts";
import { UsageError } from "../../lib/recipe/command_line.ts";
import type { CheckpointScore } from "../../lib/recipe/recipe.ts";
import { createPolicyEngine, policyOf } from "./base_policy.ts";
import { MICRO_DECODINGS, MICRO_LOOP, MICRO_PANEL, MICRO_PROTOCOL } from "./micro_settings.ts";

const WEIGHTS = "model.safetensors";

/**
 * Scores weights on the test questions of a seed's world. Those of a run are read under the instruction that its last
 * evaluation used, others under the seed instruction.
 *
 * @param path a run's directory (its last checkpoint), a folder in it down to the weights, or any model.safetensors
 * @throws {UsageError} if there are no weights
 */
export async function evaluateMicroCheckpoint(path: string, seed: number): Promise<CheckpointScore> {
  const { file, instruction } = await locateWeights(path);
  const bytes = await readFile(file);
  const engine = createPolicyEngine(seed);
  await engine.loadWeights(bytes);
  const { questions, retriever } = createHopSearchWorld(seed);
  const environment = searchQaEnvironment(policyOf(engine, MICRO_PROTOCOL), retriever, MICRO_PROTOCOL);
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

/**
 * The weights that a path stands for, and the instruction they are read under.
 *
 * @throws {UsageError} if there are none
 */
export async function locateWeights(path: string): Promise<{ file: string; instruction: string }> {
  const file = await weightsFile(resolve(path));
  if (file === null) {
    throw new UsageError(
      `--evaluate: no weights in ${
        JSON.stringify(path)
      }: give a run's directory, a folder of its checkpoint, or a ${WEIGHTS}`,
    );
  }
  // <run>/checkpoint/step-<n>/engine/model.safetensors
  const checkpoints = dirname(dirname(dirname(file)));
  const run = dirname(checkpoints);
  const isOfRun = basename(checkpoints) === RUN_FILES.checkpoints && existsSync(join(run, RUN_FILES.config));
  return { file, instruction: isOfRun ? await evaluatedInstruction(run) : MICRO_LOOP.seedInstruction };
}

/** The weights that an absolute path stands for, or null. */
async function weightsFile(path: string): Promise<string | null> {
  if (!existsSync(path)) return null;
  if ((await stat(path)).isFile()) return path;
  const run = basename(path) === RUN_FILES.checkpoints ? dirname(path) : path;
  const folders = [path, join(path, "engine"), (await resumePoint(run))?.enginePath];
  for (const folder of folders) {
    if (folder !== undefined && existsSync(join(folder, WEIGHTS))) return join(folder, WEIGHTS);
  }
  return null;
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
