import { type Activations, type LayerActivations, probabilitySize, rotateQueriesAndKeys } from "./forward.ts";
import type { Pointer } from "./kernels.ts";
import type { Model } from "./model.ts";
import type { PackedBatch } from "./packed_batch.ts";

/** Room that every layer uses anew. */
interface Scratch {
  transposed: Pointer;
  dNormed: Pointer;
  dFeedForward: Pointer;
  dMixed: Pointer;
  dQkv: Pointer;
  dScores: Pointer;
}

/**
 * Adds the gradient of the weights to `gradient`, from the derivative by the logits that the caller has written in
 * place of the log-probabilities (`targetBackward`, `divergenceBackward`).
 */
export function backward(
  model: Model,
  weights: Pointer,
  gradient: Pointer,
  batch: PackedBatch,
  activations: Activations,
): void {
  const { shape: { vocabulary, width, feedForward }, layout, kernels, arena } = model;
  const { rows, scored } = batch;
  const scratch: Scratch = {
    transposed: arena.take(width * Math.max(3 * width, feedForward, vocabulary)),
    dNormed: arena.take(rows * width),
    dFeedForward: arena.take(rows * feedForward),
    dMixed: arena.take(rows * width),
    dQkv: arena.take(rows * 3 * width),
    dScores: arena.take(Math.max(...batch.lengths) + 3),
  };
  const dx = arena.take(rows * width);
  const dScored = arena.take(scored * width);
  kernels.zero(dx, rows * width);
  kernels.zero(dScored, scored * width);

  const { scoredInput, scoredNormed, scoredInverseRms, logprobs: dLogits } = activations;
  const dScoredNormed = arena.take(scored * width);
  linearBackward(model, weights, gradient, layout.head, scoredNormed, dLogits, dScoredNormed, scratch, {
    rows: scored,
    inputs: width,
    outputs: vocabulary,
  });
  const norm = 4 * layout.finalNorm;
  kernels.rmsNormBackward(
    scoredInput,
    weights + norm,
    scoredInverseRms,
    dScoredNormed,
    dScored,
    gradient + norm,
    scored,
    width,
  );
  kernels.scatterAddRows(dx, batch.scoredRows, dScored, scored, width);
  for (let layer = activations.layers.length - 1; layer >= 0; layer--) {
    backwardLayer(model, weights, gradient, layer, activations.layers[layer], batch, dx, scratch);
  }
  kernels.scatterAddRows(gradient + 4 * layout.embedding, batch.tokens, dx, rows, width);
}

/** `dx` is the derivative by the layer's output, and by its input afterwards. */
function backwardLayer(
  model: Model,
  weights: Pointer,
  gradient: Pointer,
  layer: number,
  activations: LayerActivations,
  batch: PackedBatch,
  dx: Pointer,
  scratch: Scratch,
): void {
  const { shape: { width, feedForward }, kernels } = model;
  const { rows } = batch;
  const offsets = model.layout.layers[layer];
  const { dNormed, dFeedForward, dMixed, dQkv } = scratch;
  const linear = (offset: number, x: Pointer, dy: Pointer, into: Pointer, inputs: number, outputs: number) =>
    linearBackward(model, weights, gradient, offset, x, dy, into, scratch, { rows, inputs, outputs });
  const norm = (offset: number, x: Pointer, inverseRms: Pointer) =>
    kernels.rmsNormBackward(x, weights + 4 * offset, inverseRms, dNormed, dx, gradient + 4 * offset, rows, width);

  linear(offsets.down, activations.activated, dx, dFeedForward, feedForward, width);
  kernels.squaredReluBackward(activations.up, dFeedForward, rows * feedForward);
  linear(offsets.up, activations.feedForwardNormed, dFeedForward, dNormed, width, feedForward);
  norm(offsets.feedForwardNorm, activations.middle, activations.feedForwardInverseRms);

  linear(offsets.attentionOutput, activations.mixed, dx, dMixed, width, width);
  attentionBackward(model, activations, batch, scratch);
  rotateQueriesAndKeys(model, dQkv, batch.positions, rows, -1);
  linear(offsets.qkv, activations.attentionNormed, dQkv, dNormed, width, 3 * width);
  norm(offsets.attentionNorm, activations.input, activations.attentionInverseRms);
}

function attentionBackward(model: Model, activations: LayerActivations, batch: PackedBatch, scratch: Scratch): void {
  const { shape: { width, heads }, kernels } = model;
  kernels.zero(scratch.dQkv, batch.rows * 3 * width);
  let row = 0;
  let { probabilities } = activations;
  for (const length of batch.lengths) {
    kernels.attentionBackward(
      activations.qkv + 12 * row * width,
      scratch.dMixed + 4 * row * width,
      probabilities,
      scratch.dQkv + 12 * row * width,
      scratch.dScores,
      length,
      heads,
      width / heads,
    );
    row += length;
    probabilities += 4 * probabilitySize([length], heads);
  }
}

/** Way back through y = x · W: adds to W's gradient and writes the derivative by x. */
function linearBackward(
  { kernels }: Model,
  weights: Pointer,
  gradient: Pointer,
  offset: number,
  x: Pointer,
  dy: Pointer,
  dx: Pointer,
  { transposed }: Scratch,
  { rows, inputs, outputs }: { rows: number; inputs: number; outputs: number },
): void {
  kernels.addTransposedMatmul(x, dy, gradient + 4 * offset, rows, outputs, inputs);
  kernels.transpose(weights + 4 * offset, transposed, inputs, outputs);
  kernels.matmul(dy, transposed, dx, rows, inputs, outputs, 0);
}
