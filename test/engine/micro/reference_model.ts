import type { Datum, Loss } from "../../../lib/engine/engine.ts";
import type { ModelShape } from "../../../lib/engine/micro/model_shape.ts";

/** Float64 weights by tensor name. */
export type Weights = ReadonlyMap<string, Float64Array>;

/** The model once more, in float64 and as plainly as possible; shares nothing with the engine. */
export function referenceLogprobs(shape: ModelShape, weights: Weights, tokens: readonly number[]): number[][] {
  const { width, heads, layers, feedForward, vocabulary } = shape;
  const size = width / heads;
  let x = tokens.map((token) => [...weights.get("embedding.weight")!.subarray(token * width, (token + 1) * width)]);
  for (let layer = 0; layer < layers; layer++) {
    const tensor = (name: string) => weights.get(`layers.${layer}.${name}.weight`)!;
    const qkv = x.map((row) => product(normed(row, tensor("attention_norm")), tensor("qkv"), 3 * width));
    const part = (t: number, kind: number, head: number) => {
      const values = qkv[t].slice(kind * width + head * size, kind * width + (head + 1) * size);
      return kind < 2 ? turned(values, t, shape.rotaryBase) : values;
    };
    const mixed = x.map(() => [] as number[]);
    for (let head = 0; head < heads; head++) {
      for (let t = 0; t < x.length; t++) {
        const query = part(t, 0, head);
        const scores = Array.from({ length: t + 1 }, (_, j) => dot(query, part(j, 1, head)) / Math.sqrt(size));
        const probabilities = logSoftmax(scores).map(Math.exp);
        for (let c = 0; c < size; c++) {
          mixed[t].push(probabilities.reduce((sum, p, j) => sum + p * qkv[j][2 * width + head * size + c], 0));
        }
      }
    }
    x = x.map((row, t) => added(row, product(mixed[t], tensor("attention_output"), width)));
    x = x.map((row) => {
      const up = product(normed(row, tensor("feed_forward_norm")), tensor("up"), feedForward);
      return added(row, product(up.map((u) => Math.max(u, 0) ** 2), tensor("down"), width));
    });
  }
  const head = weights.get("head.weight")!;
  return x.map((row) => logSoftmax(product(normed(row, weights.get("final_norm.weight")!), head, vocabulary)));
}

/** log p of the continuation's tokens over the whole vocabulary. */
export function continuationLogprobs(
  shape: ModelShape,
  weights: Weights,
  prompt: Int32Array,
  continuation: Int32Array,
): number[][] {
  return referenceLogprobs(shape, weights, [...prompt, ...continuation]).slice(prompt.length - 1, -1);
}

/** A loss as `engine.ts` defines it. @param other weights of the KL reference or the teacher */
export function referenceLoss(shape: ModelShape, weights: Weights, other: Weights, batch: Datum[], loss: Loss): number {
  const losses = batch.map((datum) => {
    const { prompt, continuation } = datum;
    const table = continuationLogprobs(shape, weights, prompt, continuation);
    const logprob = (t: number) => table[t][continuation[t]];
    if (loss.kind === "weighted-nll") return table.map((_, t) => -datum.weights[t] * logprob(t));
    if (loss.kind === "teacher-kl") {
      const teacher = continuationLogprobs(shape, other, datum.teacherPrompt!, continuation);
      return table.map((row, t) =>
        datum.weights[t] * row.reduce((sum, lp, v) => sum + Math.exp(teacher[t][v]) * (teacher[t][v] - lp), 0)
      );
    }
    const reference = loss.klCoef ? continuationLogprobs(shape, other, prompt, continuation) : table;
    return table.map((_, t) => {
      const [ratio, advantage] = [Math.exp(logprob(t) - datum.logprobs![t]), datum.weights[t]];
      const clipped = Math.min(Math.max(ratio, 1 - loss.clipLow), 1 + loss.clipHigh);
      const surrogate = Math.min(ratio * advantage, clipped * advantage);
      const bounded = advantage < 0 && loss.dualClip ? Math.max(surrogate, loss.dualClip * advantage) : surrogate;
      const difference = reference[t][continuation[t]] - logprob(t);
      return -bounded + (loss.klCoef ?? 0) * (Math.exp(difference) - difference - 1);
    });
  });
  return (loss.coefficient ?? 1) * mean(losses, batch, loss);
}

function mean(losses: number[][], batch: Datum[], { aggregation }: Loss): number {
  const sums = losses.map((row, s) => row.reduce((sum, value, t) => sum + (batch[s].mask[t] === 1 ? value : 0), 0));
  const counts = batch.map(({ mask }) => mask.reduce((sum, m) => sum + m, 0));
  const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
  if (aggregation === "token-mean") return total(sums) / total(counts);
  return total(sums.map((sum, s) => counts[s] === 0 ? 0 : sum / counts[s])) / counts.filter((n) => n > 0).length;
}

function normed(row: number[], gain: Float64Array): number[] {
  const scale = 1 / Math.sqrt(dot(row, row) / row.length + 1e-5);
  return row.map((value, c) => value * scale * gain[c]);
}

function product(row: number[], matrix: Float64Array, columns: number): number[] {
  const result = new Array<number>(columns).fill(0);
  for (const [k, value] of row.entries()) {
    for (let n = 0; n < columns; n++) result[n] += value * matrix[k * columns + n];
  }
  return result;
}

function turned(values: number[], position: number, base: number): number[] {
  const half = values.length / 2;
  return values.map((value, c) => {
    const angle = position * base ** (-(c % half) / half);
    const other = c < half ? -values[c + half] : values[c - half];
    return value * Math.cos(angle) + other * Math.sin(angle);
  });
}

function logSoftmax(values: number[]): number[] {
  const largest = Math.max(...values);
  const total = Math.log(values.reduce((sum, value) => sum + Math.exp(value - largest), 0));
  return values.map((value) => value - largest - total);
}

function dot(a: number[], b: number[]): number {
  return a.reduce((sum, value, c) => sum + value * b[c], 0);
}

function added(a: number[], b: number[]): number[] {
  return a.map((value, c) => value + b[c]);
}
