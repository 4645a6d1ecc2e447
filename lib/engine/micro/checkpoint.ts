import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Model } from "./model.ts";
import type { ModelShape, ParameterTensor } from "./model_shape.ts";
import type { ParameterStore } from "./parameter_store.ts";
import { decodeSafetensors, encodeSafetensors, type Float32Tensor, type SafetensorsFile } from "./safetensors.ts";

const MODEL_FILE = "model.safetensors";
const OPTIMIZER_FILE = "optimizer.safetensors";

/** What a checkpoint holds, as flat vectors. */
export interface Checkpoint {
  weights: Float32Array;
  mean: Float32Array;
  variance: Float32Array;
  step: number;
  /** sha256 of the model file, in hexadecimal. */
  hash: string;
}

/**
 * Writes `model.safetensors` and `optimizer.safetensors` into a folder, which is made where it is missing.
 *
 * Whenever the process dies, the folder can be loaded: both files are complete before either takes its place, the
 * model goes first, and an optimizer file names the model that it belongs to.
 *
 * @returns sha256 of the model file
 */
export async function saveCheckpoint(folder: string, model: Model, store: ParameterStore): Promise<string> {
  const { layout: { tensors, size }, arena, shape } = model;
  const vector = (pointer: number) => arena.f32.slice(pointer >> 2, (pointer >> 2) + size);
  const weights = namedTensors(tensors, vector(store.weights), "");
  const modelBytes = encodeSafetensors({ tensors: weights, metadata: modelMetadata(shape) });
  const hash = sha256(modelBytes);
  const moments = new Map([
    ...namedTensors(tensors, vector(store.mean), "exp_avg."),
    ...namedTensors(tensors, vector(store.variance), "exp_avg_sq."),
  ]);
  const metadata = { format: "coevo-micro-optimizer", step: String(store.step), model_sha256: hash };
  await mkdir(folder, { recursive: true });
  await writeSynced(join(folder, `${MODEL_FILE}.new`), modelBytes);
  await writeSynced(join(folder, `${OPTIMIZER_FILE}.new`), encodeSafetensors({ tensors: moments, metadata }));
  await rename(join(folder, `${MODEL_FILE}.new`), join(folder, MODEL_FILE));
  await rename(join(folder, `${OPTIMIZER_FILE}.new`), join(folder, OPTIMIZER_FILE));
  return hash;
}

/**
 * Reads what {@link saveCheckpoint} wrote.
 *
 * @throws {Error} if the folder holds no checkpoint of this model, or model and optimizer do not belong together
 */
export async function readCheckpoint(folder: string, { layout, shape }: Model): Promise<Checkpoint> {
  const path = join(folder, MODEL_FILE);
  const bytes = await readNamed(path);
  const weights = decodeWeights(bytes, path, { layout, shape });
  const hash = sha256(bytes);
  const { file, name } = await readOptimizer(folder, hash);
  const step = Number(file.metadata.step);
  if (!Number.isSafeInteger(step) || step < 0) {
    throw new Error(
      `Cannot load ${name}: expected its step, a whole number, found ${JSON.stringify(file.metadata.step)}`,
    );
  }
  const both = (prefix: string) => layout.tensors.map((tensor) => ({ ...tensor, name: prefix + tensor.name }));
  checkNames(file, name, [...both("exp_avg."), ...both("exp_avg_sq.")]);
  return {
    weights,
    mean: flatVector(file, name, both("exp_avg."), layout.size),
    variance: flatVector(file, name, both("exp_avg_sq."), layout.size),
    step,
    hash,
  };
}

/** The weights in a model file. @throws {Error} if they are not those of a model of this shape */
export function decodeWeights(
  bytes: Uint8Array,
  name: string,
  { layout }: Pick<Model, "layout" | "shape">,
): Float32Array {
  const file = decodeSafetensors(bytes, name);
  checkNames(file, name, layout.tensors);
  return flatVector(file, name, layout.tensors, layout.size);
}

/** sha256 of bytes, in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The optimizer state of the model with this hash; a save that died before its last step left it beside the old one. */
async function readOptimizer(folder: string, modelHash: string): Promise<{ file: SafetensorsFile; name: string }> {
  const name = join(folder, OPTIMIZER_FILE);
  const found: string[] = [];
  for (const candidate of [name, `${name}.new`]) {
    const bytes = await readFile(candidate).catch((error) => {
      if (error.code === "ENOENT") return null;
      throw error;
    });
    if (bytes === null) continue;
    const file = decodeSafetensors(bytes, candidate);
    if (file.metadata.model_sha256 === modelHash) return { file, name: candidate };
    found.push(file.metadata.model_sha256 ?? "no model");
  }
  throw new Error(
    `Cannot load ${name}: expected the optimizer state of the model with sha256 ${modelHash}, found ` +
      `${found.length === 0 ? "no file" : `that of ${found.join(" and ")}`}`,
  );
}

async function readNamed(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(`Cannot load ${path}: expected a checkpoint of the embedded engine, found no readable file`, {
      cause: error,
    });
  }
}

function modelMetadata(shape: ModelShape): Record<string, string> {
  return {
    format: "coevo-micro",
    matrices: "input, output",
    ...Object.fromEntries(Object.entries(shape).map(([name, value]) => [name, String(value)])),
  };
}

function namedTensors(
  tensors: readonly ParameterTensor[],
  flat: Float32Array,
  prefix: string,
): Map<string, Float32Tensor> {
  return new Map(
    tensors.map((
      { name, shape, offset, size },
    ) => [prefix + name, { shape, values: flat.subarray(offset, offset + size) }]),
  );
}

function checkNames(file: SafetensorsFile, name: string, expected: readonly ParameterTensor[]): void {
  for (const tensor of expected) {
    const found = file.tensors.get(tensor.name);
    if (found?.shape.join() !== tensor.shape.join()) {
      throw new Error(
        `Cannot load ${name}: expected tensor "${tensor.name}" of shape [${tensor.shape}], found ` +
          (found === undefined ? "none of that name" : `shape [${found.shape}]`),
      );
    }
  }
  const names = new Set(expected.map((tensor) => tensor.name));
  const foreign = [...file.tensors.keys()].find((tensor) => !names.has(tensor));
  if (foreign !== undefined) {
    throw new Error(`Cannot load ${name}: expected ${names.size} tensors, found also "${foreign}"`);
  }
}

function flatVector(
  file: SafetensorsFile,
  name: string,
  tensors: readonly ParameterTensor[],
  size: number,
): Float32Array {
  const flat = new Float32Array(size);
  for (const tensor of tensors) flat.set(file.tensors.get(tensor.name)!.values, tensor.offset);
  const wrong = tensors.find(({ offset, size: length }) =>
    !flat.subarray(offset, offset + length).every(Number.isFinite)
  );
  if (wrong !== undefined) {
    throw new Error(`Cannot load ${name}: expected finite numbers, found others in tensor "${wrong.name}"`);
  }
  return flat;
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "w");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
