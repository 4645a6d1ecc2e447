import type { Pointer } from "./kernels.ts";
import type { Model } from "./model.ts";
import type { PackedBatch } from "./packed_batch.ts";

/** What a layer's way back needs; all in the arena until it is cleared. */
export interface LayerActivations {
  /** Residual stream before the layer, [rows, width]. */
  input: Pointer;
  /** Its norm, which queries, keys and values come from. */
  attentionNormed: Pointer;
  /** 1 / rms of every row of `input`. */
  attentionInverseRms: Pointer;
  /** Queries, keys (both turned to their positions) and values, [rows, 3 · width]. */
  qkv: Pointer;
  /** Attention probabilities, sequence by sequence. */
  probabilities: Pointer;
  /** What attention reads, before its output matrix. */
  mixed: Pointer;
  /** Residual stream behind attention, [rows, width]. */
  middle: Pointer;
  /** Its norm. */
  feedForwardNormed: Pointer;
  /** 1 / rms of every row of `middle`. */
  feedForwardInverseRms: Pointer;
  /** Hidden layer before its activation, [rows, feedForward]. */
  up: Pointer;
  /** Hidden layer behind it. */
  activated: Pointer;
}

/** What a pass over a packed batch leaves in the arena. */
export interface Activations {
  /** From the first to the last. */
  layers: LayerActivations[];
  /** Rows of the residual stream that predict a continuation token, [scored, width]. */
  scoredInput: Pointer;
  /** Their norm. */
  scoredNormed: Pointer;
  /** 1 / rms of every one. */
  scoredInverseRms: Pointer;
  /** Log-probabilities of the whole vocabulary, [scored, vocabulary]. */
  logprobs: Pointer;
  /** Of every scored row, in nats. */
  entropy: Pointer;
}

/** Runs the model over a packed batch. @param weights the flat parameter vector */
export function forward(model: Model, weights: Pointer, batch: PackedBatch): Activations {
  const { shape, layout, kernels, arena } = model;
  const { vocabulary, width } = shape;
  let x = arena.take(batch.rows * width);
  kernels.gatherRows(weights + 4 * layout.embedding, batch.tokens, x, batch.rows, width);
  const layers: LayerActivations[] = [];
  for (let layer = 0; layer < shape.layers; layer++) {
    const { activations, output } = forwardLayer(model, weights, layer, x, batch);
    layers.push(activations);
    x = output;
  }
  const scoredInput = arena.take(batch.scored * width);
  const scoredNormed = arena.take(batch.scored * width);
  const scoredInverseRms = arena.take(batch.scored);
  const logprobs = arena.take(batch.scored * vocabulary);
  const entropy = arena.take(batch.scored);
  kernels.gatherRows(x, batch.scoredRows, scoredInput, batch.scored, width);
  const gain = weights + 4 * layout.finalNorm;
  kernels.rmsNorm(scoredInput, gain, scoredNormed, scoredInverseRms, batch.scored, width);
  kernels.matmul(scoredNormed, weights + 4 * layout.head, logprobs, batch.scored, vocabulary, width, 0);
  kernels.logSoftmax(logprobs, entropy, batch.scored, vocabulary, 1);
  return { layers, scoredInput, scoredNormed, scoredInverseRms, logprobs, entropy };
}

function forwardLayer(
  model: Model,
  weights: Pointer,
  layer: number,
  input: Pointer,
  batch: PackedBatch,
): { activations: LayerActivations; output: Pointer } {
  const { shape: { width, heads, feedForward }, kernels, arena } = model;
  const { rows, positions } = batch;
  const offsets = model.layout.layers[layer];
  const activations: LayerActivations = {
    input,
    attentionNormed: arena.take(rows * width),
    attentionInverseRms: arena.take(rows),
    qkv: arena.take(rows * 3 * width),
    probabilities: arena.take(probabilitySize(batch.lengths, heads)),
    mixed: arena.take(rows * width),
    middle: arena.take(rows * width),
    feedForwardNormed: arena.take(rows * width),
    feedForwardInverseRms: arena.take(rows),
    up: arena.take(rows * feedForward),
    activated: arena.take(rows * feedForward),
  };
  const { attentionNormed, qkv, mixed, middle, feedForwardNormed, up, activated } = activations;
  const output = arena.take(rows * width);
  const at = (offset: number) => weights + 4 * offset;

  kernels.rmsNorm(input, at(offsets.attentionNorm), attentionNormed, activations.attentionInverseRms, rows, width);
  kernels.matmul(attentionNormed, at(offsets.qkv), qkv, rows, 3 * width, width, 0);
  rotateQueriesAndKeys(model, qkv, positions, rows, 1);
  let row = 0;
  let probabilities = activations.probabilities;
  for (const length of batch.lengths) {
    kernels.attention(qkv + 12 * row * width, mixed + 4 * row * width, probabilities, length, heads, width / heads);
    row += length;
    probabilities += 4 * probabilitySize([length], heads);
  }
  kernels.matmul(mixed, at(offsets.attentionOutput), middle, rows, width, width, input);

  kernels.rmsNorm(
    middle,
    at(offsets.feedForwardNorm),
    feedForwardNormed,
    activations.feedForwardInverseRms,
    rows,
    width,
  );
  kernels.matmul(feedForwardNormed, at(offsets.up), up, rows, feedForward, width, 0);
  kernels.squaredRelu(up, activated, rows * feedForward);
  kernels.matmul(activated, at(offsets.down), output, rows, width, feedForward, middle);
  return { activations, output };
}

/** Turns the queries and keys of `rows` rows of [3 · width] to their positions (sign 1) or back (sign −1). */
export function rotateQueriesAndKeys(model: Model, qkv: Pointer, positions: Pointer, rows: number, sign: 1 | -1): void {
  const { shape: { width, heads }, kernels, cosine, sine } = model;
  // Queries and keys are neighbours, so they are 2 · heads heads of one array.
  kernels.rotate(qkv, 3 * width, positions, cosine, sine, rows, 2 * heads, width / heads, sign);
}

/** Numbers that the attention probabilities of sequences take. */
export function probabilitySize(lengths: readonly number[], heads: number): number {
  return lengths.reduce((sum, length) => sum + heads * length * ((length + 3) & ~3), 0);
}
