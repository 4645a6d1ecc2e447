import type { Datum } from "../../../lib/engine/engine.ts";
import { randomStream } from "../../../lib/random/stream.ts";

/** A datum for every pair of lengths, with everything that any loss needs; some tokens are masked. */
export function exampleBatch(vocabulary: number, lengths: readonly [prompt: number, continuation: number][]): Datum[] {
  const stream = randomStream("example batch", vocabulary);
  const tokens = (length: number) => Int32Array.from({ length }, () => stream.below(vocabulary));
  const numbers = (length: number, low: number, high: number) =>
    Float32Array.from({ length }, () => low + (high - low) * stream.next());
  return lengths.map(([prompt, continuation], i) => ({
    prompt: tokens(prompt),
    continuation: tokens(continuation),
    teacherPrompt: tokens(i + 2),
    mask: Float32Array.from({ length: continuation }, (_, t) => t % 4 === 3 || t === i ? 0 : 1),
    weights: numbers(continuation, -1, 1),
    logprobs: numbers(continuation, -5, -2),
  }));
}

/** Largest difference of two vectors, relative to the norm of the second: 0 where both are equal. */
export function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let difference = 0;
  let norm = 0;
  for (let i = 0; i < expected.length; i++) {
    difference += (actual[i] - expected[i]) ** 2;
    norm += expected[i] ** 2;
  }
  return difference === 0 && actual.length === expected.length ? 0 : Math.sqrt(difference / norm);
}
