import { readFile } from "node:fs/promises";
import process from "node:process";
import type { Engine, EngineInfo, Loss } from "../engine.ts";
import { checkBatch, checkSampling, checkSequences } from "./check_input.ts";
import { decodeWeights, readCheckpoint, saveCheckpoint, sha256 } from "./checkpoint.ts";
import type { Pointer } from "./kernels.ts";
import { plainKernels } from "./kernels_plain.ts";
import { loadWasmKernels } from "./kernels_wasm.ts";
import { clearKvCache, createKvCache, type KvCache } from "./kv_cache.ts";
import { createModel, initialWeights } from "./model.ts";
import { checkModelShape, type ModelShape } from "./model_shape.ts";
import { adamWStep, clearGradients, createParameterStore, resetOptimizer, totalGradient } from "./parameter_store.ts";
import { samplePrompts } from "./sampling.ts";
import { scoreSequences } from "./scoring.ts";
import { stopCondition } from "./stop_condition.ts";
import type { MicroTokenizer } from "./tokenizer.ts";
import { accumulateGradients } from "./training.ts";

/** What to make an embedded engine from. Sizes default to a model of 115,000 parameters at a vocabulary of 128. */
export interface MicroEngineOptions {
  tokenizer: MicroTokenizer;
  /** Most tokens of prompt and continuation together. */
  contextLength: number;
  /** Seed of the initial weights. */
  seed: number;
  /** Size of the residual stream; default 64. */
  width?: number;
  /** Default 2. */
  layers?: number;
  /** Attention heads; default width / 16. */
  heads?: number;
  /** Size of the feed-forward blocks' hidden layer; default 4 · width. */
  feedForward?: number;
  /** Base of the rotary frequencies; default 200. */
  rotaryBase?: number;
  /** `wasm` (default): compiled SIMD code. `plain`: TypeScript loops, slow, for tests and where SIMD is missing. */
  kernels?: "wasm" | "plain";
  /** Contexts whose keys and values are kept, and samples that are written at once; default 64. */
  slots?: number;
}

/** An engine in this process, with a view into its tensors. */
export interface MicroEngine extends Engine {
  /** Copies of the weights by tensor name; matrices are [input, output]. */
  parameters(): Map<string, Float32Array>;
  /** The gradient that `optimStep` would use now, before clipping, by tensor name. */
  gradients(): Map<string, Float32Array>;
  /**
   * Replaces the weights by those of a `model.safetensors` (its path or content); optimizer state and gradients start
   * anew, snapshots stay.
   */
  loadWeights(source: string | Uint8Array): Promise<void>;
}

/**
 * A small decoder-only transformer that samples and learns inside this process, on one core.
 *
 * Equal options, calls and seeds give equal bits wherever the `Math` functions do (the same V8 on the same processor
 * family). Methods compute synchronously, before they return their promise.
 *
 * @throws {RangeError} for sizes that the kernels cannot compute
 */
export function createMicroEngine(options: MicroEngineOptions): MicroEngine {
  const shape = modelShape(options);
  const { tokenizer, slots = 64, kernels = "wasm" } = options;
  if (!Number.isInteger(slots) || slots < 1) {
    throw new RangeError(`Cannot make an engine with ${slots} cache slots: need a whole number of at least 1`);
  }
  const model = createModel(shape, kernels === "wasm" ? loadWasmKernels() : plainKernels());
  const { arena, layout } = model;
  const store = createParameterStore(model, initialWeights(layout, options.seed));
  const snapshots = new Map<string, Pointer>();
  let cache: KvCache | undefined;
  let origin = `initial weights, seed ${options.seed}`;
  let updates = 0;

  const vector = (pointer: Pointer) => arena.f32.slice(pointer >> 2, (pointer >> 2) + layout.size);
  const byName = (flat: Float32Array) =>
    new Map(layout.tensors.map(({ name, offset, size }) => [name, flat.slice(offset, offset + size)]));
  const snapshotWeights = (name: string): Pointer => {
    const weights = snapshots.get(name);
    if (weights !== undefined) return weights;
    const known = [...snapshots.keys()].map((key) => `"${key}"`).join(", ") || "none";
    throw new RangeError(
      `Cannot use the snapshot "${name}": there is no such one (there is ${known}); call snapshot() first`,
    );
  };
  const otherWeights = (loss: Loss): Pointer | undefined => {
    if (loss.kind === "ppo") return loss.klCoef ? snapshotWeights(loss.reference ?? "reference") : undefined;
    if (loss.kind === "teacher-kl") return loss.teacher === "current" ? store.weights : snapshotWeights(loss.teacher);
    return undefined;
  };
  const weightsChanged = () => {
    if (cache !== undefined) clearKvCache(cache);
  };
  const weightsAre = (hash: string) => {
    origin = `sha256:${hash}`;
    updates = 0;
  };

  return {
    get info() {
      return engineInfo(shape, layout.size, updates === 0 ? origin : `${origin} + ${updates} updates`, kernels);
    },
    encode: (text) => settle(() => tokenizer.encode(typeof text === "string" ? text : tokenizer.applyTemplate(text))),
    decode: (tokens) => settle(() => tokenizer.decode(tokens)),
    sample: (prompts, sampling) =>
      settle(() => {
        checkSampling(prompts, sampling, shape);
        cache ??= createKvCache(model, slots);
        const isStopped = stopCondition(tokenizer, sampling.stop);
        return samplePrompts({ model, weights: store.weights, cache, options: sampling, isStopped }, prompts);
      }),
    logprobs: (sequences, snapshot) =>
      settle(() => {
        checkSequences(sequences, shape);
        return scoreSequences(model, snapshot === undefined ? store.weights : snapshotWeights(snapshot), sequences);
      }),
    snapshot: (name) =>
      settle(() => {
        const kept = snapshots.get(name) ?? arena.keep(layout.size);
        arena.f32.copyWithin(kept >> 2, store.weights >> 2, (store.weights >> 2) + layout.size);
        snapshots.set(name, kept);
      }),
    forwardBackward: (batch, loss) =>
      settle(() => {
        checkBatch(batch, loss, shape);
        return accumulateGradients(model, store, batch, loss, otherWeights(loss));
      }),
    optimStep: (optim) =>
      settle(() => {
        const metrics = adamWStep(model, store, optim);
        updates++;
        weightsChanged();
        return metrics;
      }),
    save: async (path) => {
      weightsAre(await saveCheckpoint(path, model, store));
    },
    load: async (path) => {
      const checkpoint = await readCheckpoint(path, model);
      arena.f32.set(checkpoint.weights, store.weights >> 2);
      arena.f32.set(checkpoint.mean, store.mean >> 2);
      arena.f32.set(checkpoint.variance, store.variance >> 2);
      store.step = checkpoint.step;
      clearGradients(model, store);
      weightsAre(checkpoint.hash);
      weightsChanged();
    },
    loadWeights: async (source) => {
      const bytes = typeof source === "string" ? await readFile(source) : source;
      const name = typeof source === "string" ? source : "the given bytes";
      arena.f32.set(decodeWeights(bytes, name, model), store.weights >> 2);
      resetOptimizer(model, store);
      weightsAre(sha256(bytes));
      weightsChanged();
    },
    close: () => Promise.resolve(),
    parameters: () => byName(vector(store.weights)),
    gradients: () => byName(vector(totalGradient(model, store))),
  };
}

function modelShape(options: MicroEngineOptions): ModelShape {
  const { tokenizer, contextLength, width = 64, layers = 2, rotaryBase = 200 } = options;
  const { heads = width / 16, feedForward = 4 * width } = options;
  const shape = { vocabulary: tokenizer.vocabulary, width, layers, heads, feedForward, contextLength, rotaryBase };
  checkModelShape(shape);
  return shape;
}

function engineInfo(shape: ModelShape, parameters: number, weights: string, kernels: "wasm" | "plain"): EngineInfo {
  return {
    name: "micro",
    model:
      `micro-d${shape.width}-l${shape.layers}-h${shape.heads}-f${shape.feedForward}-v${shape.vocabulary}, ${weights}`,
    contextLength: shape.contextLength,
    vocabulary: shape.vocabulary,
    parameters,
    device: kernels === "wasm" ? "wasm-simd, 1 thread" : "javascript, 1 thread",
    versions: { deno: process.versions.deno ?? "", v8: process.versions.v8 },
    capabilities: {
      training: true,
      snapshots: true,
      losses: ["ppo", "weighted-nll", "teacher-kl"],
      seed: "honoured",
    },
  };
}

/** The work's result, or its error, as a promise. */
function settle<T>(work: () => T): Promise<T> {
  return Promise.try(work);
}
