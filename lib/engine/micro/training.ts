import type { Datum, Loss, UpdateMetrics } from "../engine.ts";
import { backward } from "./backward.ts";
import { forward } from "./forward.ts";
import type { Pointer } from "./kernels.ts";
import { tokenWeights } from "./losses/aggregate.ts";
import { ppoTokens } from "./losses/ppo.ts";
import { k3Tokens } from "./losses/reference_kl.ts";
import type { TokenLosses } from "./losses/token_losses.ts";
import { weightedNllTokens } from "./losses/weighted_nll.ts";
import type { Model } from "./model.ts";
import { type PackedBatch, packSequences, splitByTokens } from "./packed_batch.ts";
import { gradientSum, type ParameterStore } from "./parameter_store.ts";
import { scoreSequences, targetLogprobs, TOKENS_PER_PASS } from "./scoring.ts";

/** Every token of a part of the batch, one sequence behind another. */
interface PartTokens {
  /** Weight of the token's loss in the aggregate, before division. */
  aggregation: Float64Array;
  /** 1 = in the loss. */
  mask: Float32Array;
  /** Advantage or weight. */
  weight: Float32Array;
}

/** A loss's values, and what else is worth knowing about every token. */
interface TokenReport {
  loss: ArrayLike<number>;
  /** Reported as means over unmasked tokens. */
  means: Readonly<Record<string, ArrayLike<number>>>;
  /** Reported as the largest value of an unmasked token. */
  largest: Readonly<Record<string, ArrayLike<number>>>;
}

/**
 * Adds the gradient of a loss over a batch to the store.
 *
 * @param batch checked; its prompts hold at least one token
 * @param other weights of the reference (`ppo` with a KL term) or of the teacher (`teacher-kl`)
 * @returns about this batch alone: `loss` by the loss's aggregation and times its coefficient, `tokens` the unmasked
 * ones, everything else as a mean over them (`…_max`: the largest)
 */
export function accumulateGradients(
  model: Model,
  store: ParameterStore,
  batch: readonly Datum[],
  loss: Loss,
  other: Pointer | undefined,
): UpdateMetrics {
  const masks = batch.map(({ mask }) => mask);
  const { denominator } = tokenWeights(masks, loss.aggregation);
  const { denominator: tokens } = tokenWeights(masks, "token-mean");
  const gradient = gradientSum(model, store, loss.kind, loss.aggregation, denominator);
  const coefficient = loss.coefficient ?? 1;
  const metrics: Record<string, number> = { loss: 0, tokens };
  for (const part of splitByTokens(batch, TOKENS_PER_PASS)) {
    const partTokens: PartTokens = {
      aggregation: tokenWeights(part.map(({ mask }) => mask), loss.aggregation).weights,
      mask: concatenate(part.map(({ mask }) => mask)),
      weight: concatenate(part.map(({ weights }) => weights)),
    };
    const report = loss.kind === "teacher-kl"
      ? teacherKlPart(model, store.weights, other ?? store.weights, gradient, part, partTokens, coefficient)
      : tokenLossPart(model, store.weights, other, gradient, part, partTokens, loss);
    addReport(metrics, report, partTokens, tokens, coefficient / denominator);
  }
  return metrics;
}

/** A loss that is a function of every token's log-probability: forward, loss, backward. */
function tokenLossPart(
  model: Model,
  weights: Pointer,
  referenceWeights: Pointer | undefined,
  gradient: Pointer,
  part: readonly Datum[],
  tokens: PartTokens,
  loss: Exclude<Loss, { kind: "teacher-kl" }>,
): TokenReport {
  const { arena, kernels, shape } = model;
  const reference = referenceWeights === undefined
    ? undefined
    : concatenate(scoreSequences(model, referenceWeights, part));
  arena.release();
  const batch = packSequences(part, arena);
  const activations = forward(model, weights, batch);
  const logprobs = targetLogprobs(model, batch, activations);
  const result = loss.kind === "ppo" ? ppoPart(loss, part, tokens, logprobs, reference) : nllPart(tokens, logprobs);
  const dTarget = arena.take(batch.scored);
  writeScaled(arena.f32, dTarget, result.gradient, tokens.aggregation, loss.coefficient ?? 1);
  const entropy = readFloats(model, activations.entropy, batch);
  kernels.targetBackward(activations.logprobs, batch.targets, dTarget, batch.scored, shape.vocabulary);
  backward(model, weights, gradient, batch, activations);
  return { loss: result.loss, means: { ...result.means, entropy }, largest: result.largest };
}

function ppoPart(
  loss: Extract<Loss, { kind: "ppo" }>,
  part: readonly Datum[],
  tokens: PartTokens,
  logprobs: Float32Array,
  reference: Float32Array | undefined,
): TokenLosses & TokenReport {
  const old = concatenate(part.map((datum) => datum.logprobs!)); // checked with the batch
  const surrogate = ppoTokens(logprobs, old, tokens.weight, loss);
  const means: Record<string, ArrayLike<number>> = {
    clip_fraction: surrogate.isClipped,
    dual_clip_fraction: surrogate.isDualClipped,
    approx_kl: old.map((before, t) => before - logprobs[t]),
  };
  if (reference !== undefined) {
    const kl = k3Tokens(logprobs, reference);
    means.kl = kl.loss;
    const klCoef = loss.klCoef ?? 0;
    for (let t = 0; t < logprobs.length; t++) {
      surrogate.loss[t] += klCoef * kl.loss[t];
      surrogate.gradient[t] += klCoef * kl.gradient[t];
    }
  }
  return { loss: surrogate.loss, gradient: surrogate.gradient, means, largest: { ratio_max: surrogate.ratio } };
}

function nllPart(tokens: PartTokens, logprobs: Float32Array): TokenLosses & TokenReport {
  return {
    ...weightedNllTokens(logprobs, tokens.weight),
    means: { nll: logprobs.map((logprob) => -logprob) },
    largest: {},
  };
}

/** Forward KL to the teacher over the whole vocabulary; the teacher is not differentiated. */
function teacherKlPart(
  model: Model,
  weights: Pointer,
  teacherWeights: Pointer,
  gradient: Pointer,
  part: readonly Datum[],
  tokens: PartTokens,
  coefficient: number,
): TokenReport {
  const { arena, kernels, shape: { vocabulary } } = model;
  arena.release();
  const inContext = part.map((datum) => ({ prompt: datum.teacherPrompt!, continuation: datum.continuation }));
  const { logprobs: teacher } = forward(model, teacherWeights, packSequences(inContext, arena));
  const batch = packSequences(part, arena);
  const activations = forward(model, weights, batch);
  const entropy = readFloats(model, activations.entropy, batch);
  const divergence = arena.take(batch.scored);
  kernels.divergence(activations.logprobs, teacher, divergence, batch.scored, vocabulary);
  const values = readFloats(model, divergence, batch);
  const rowWeights = arena.take(batch.scored);
  writeScaled(arena.f32, rowWeights, tokens.weight, tokens.aggregation, coefficient);
  kernels.divergenceBackward(activations.logprobs, teacher, rowWeights, batch.scored, vocabulary);
  backward(model, weights, gradient, batch, activations);
  return {
    loss: values.map((value, t) => value * tokens.weight[t]),
    means: { teacher_kl: values, entropy },
    largest: {},
  };
}

/** What a masked token holds must not matter, not even where it is not a number: 0 · NaN is not 0. */
function writeScaled(
  f32: Float32Array,
  pointer: Pointer,
  values: ArrayLike<number>,
  factors: Float64Array,
  coefficient: number,
): void {
  for (let t = 0; t < factors.length; t++) {
    f32[(pointer >> 2) + t] = factors[t] === 0 ? 0 : coefficient * factors[t] * values[t];
  }
}

function addReport(
  metrics: Record<string, number>,
  { loss, means, largest }: TokenReport,
  { aggregation, mask }: PartTokens,
  tokens: number,
  lossScale: number,
): void {
  if (tokens === 0) return;
  const add = (name: string, values: ArrayLike<number>, weights: ArrayLike<number>, scale: number) => {
    let sum = 0;
    for (let t = 0; t < weights.length; t++) if (weights[t] !== 0) sum += weights[t] * values[t];
    metrics[name] = (metrics[name] ?? 0) + sum * scale;
  };
  add("loss", loss, aggregation, lossScale);
  for (const [name, values] of Object.entries(means)) add(name, values, mask, 1 / tokens);
  for (const [name, values] of Object.entries(largest)) {
    for (let t = 0; t < mask.length; t++) {
      if (mask[t] !== 0) metrics[name] = Math.max(metrics[name] ?? -Infinity, values[t]);
    }
  }
}

function readFloats({ arena }: Model, pointer: Pointer, batch: PackedBatch): Float32Array {
  return arena.f32.slice(pointer >> 2, (pointer >> 2) + batch.scored);
}

function concatenate(arrays: readonly Float32Array[]): Float32Array {
  const result = new Float32Array(arrays.reduce((sum, array) => sum + array.length, 0));
  let offset = 0;
  for (const array of arrays) {
    result.set(array, offset);
    offset += array.length;
  }
  return result;
}
