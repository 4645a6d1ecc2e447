import type { Sequence } from "../engine.ts";
import type { Arena } from "./arena.ts";
import type { Pointer } from "./kernels.ts";

/**
 * Sequences one behind another without padding, in the arena. The last token of a sequence is only predicted, never
 * read; rows that predict a continuation token are "scored".
 */
export interface PackedBatch {
  /** Number of rows: tokens that the model reads. */
  rows: number;
  /** Rows of each sequence. */
  lengths: readonly number[];
  tokens: Pointer;
  positions: Pointer;
  /** Number of scored rows: continuation tokens of all sequences, in order. */
  scored: number;
  scoredRows: Pointer;
  targets: Pointer;
}

/** Packs sequences one behind another, without padding. @param sequences with a prompt of at least one token each */
export function packSequences(sequences: readonly Sequence[], arena: Arena): PackedBatch {
  const lengths = sequences.map(({ prompt, continuation }) => prompt.length + continuation.length - 1);
  const rows = lengths.reduce((sum, length) => sum + length, 0);
  const scored = sequences.reduce((sum, { continuation }) => sum + continuation.length, 0);
  const [tokens, positions, scoredRows, targets] = [rows, rows, scored, scored].map((size) => arena.take(size));
  const { i32 } = arena;
  let row = 0;
  let target = 0;
  for (const [s, { prompt, continuation }] of sequences.entries()) {
    i32.set(prompt.subarray(0, lengths[s]), (tokens >> 2) + row);
    i32.set(continuation.subarray(0, Math.max(0, continuation.length - 1)), (tokens >> 2) + row + prompt.length);
    for (let t = 0; t < lengths[s]; t++) i32[(positions >> 2) + row + t] = t;
    for (let t = 0; t < continuation.length; t++) {
      i32[(scoredRows >> 2) + target] = row + prompt.length - 1 + t;
      i32[(targets >> 2) + target++] = continuation[t];
    }
    row += lengths[s];
  }
  return { rows, lengths, tokens, positions, scored, scoredRows, targets };
}

/**
 * Consecutive parts of a list of sequences with at most `mostTokens` tokens each (a longer sequence is a part of its
 * own), so that what a pass keeps in memory is bounded.
 */
export function splitByTokens<T extends Sequence>(sequences: readonly T[], mostTokens: number): T[][] {
  const parts: T[][] = [];
  let tokens = Infinity;
  for (const sequence of sequences) {
    const length = sequence.prompt.length + sequence.continuation.length;
    if (tokens + length > mostTokens) {
      parts.push([]);
      tokens = 0;
    }
    parts[parts.length - 1].push(sequence);
    tokens += length;
  }
  return parts;
}
