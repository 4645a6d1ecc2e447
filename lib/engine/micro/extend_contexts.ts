import { rotateQueriesAndKeys } from "./forward.ts";
import type { Pointer } from "./kernels.ts";
import type { CacheSlot, KvCache } from "./kv_cache.ts";
import type { Model } from "./model.ts";
import { TOKENS_PER_PASS } from "./scoring.ts";

/**
 * Runs the model over the tokens of every slot that are not cached yet: a prompt, a sampled token or a tool's output.
 *
 * @param slots with at least one such token each
 * @returns [slots, width]: the residual stream at every slot's last token, in the arena
 */
export function extendContexts(model: Model, weights: Pointer, cache: KvCache, slots: readonly CacheSlot[]): Pointer {
  const { arena, shape: { width } } = model;
  const last = arena.take(slots.length * width);
  const mark = arena.mark();
  for (let start = 0; start < slots.length;) {
    const end = endOfPass(slots, start);
    extendPass(model, weights, cache, slots, start, end, last + 4 * start * width);
    arena.release(mark);
    start = end;
  }
  return last;
}

/** One past the last slot that fits into a pass with the slots from `start`. */
function endOfPass(slots: readonly CacheSlot[], start: number): number {
  let tokens = slots[start].length - slots[start].cached;
  let end = start + 1;
  while (end < slots.length && (tokens += slots[end].length - slots[end].cached) <= TOKENS_PER_PASS) end++;
  return end;
}

/** Slots `start` … `end` − 1; their last rows are written to `last`. */
function extendPass(
  model: Model,
  weights: Pointer,
  cache: KvCache,
  slots: readonly CacheSlot[],
  start: number,
  end: number,
  last: Pointer,
): void {
  const { shape: { width, heads, feedForward, contextLength }, layout, kernels, arena } = model;
  let rows = 0;
  for (let s = start; s < end; s++) rows += slots[s].length - slots[s].cached;
  const [tokens, positions, pointers, lastRows] = [0, 1, 2, 3].map(() => arena.take(rows));
  const x = arena.take(rows * width);
  const normed = arena.take(rows * width);
  const inverseRms = arena.take(rows);
  const qkv = arena.take(rows * 3 * width);
  const mixed = arena.take(rows * width);
  const up = arena.take(rows * feedForward);
  const scratch = arena.take(contextLength + 3);
  writeRows(arena.i32, slots, start, end, tokens >> 2, positions >> 2, pointers >> 2, lastRows >> 2);

  kernels.gatherRows(weights + 4 * layout.embedding, tokens, x, rows, width);
  for (const [layer, offsets] of layout.layers.entries()) {
    kernels.rmsNorm(x, weights + 4 * offsets.attentionNorm, normed, inverseRms, rows, width);
    kernels.matmul(normed, weights + 4 * offsets.qkv, qkv, rows, 3 * width, width, 0);
    rotateQueriesAndKeys(model, qkv, positions, rows, 1);
    const layerOffset = layer * cache.layerStride;
    const headWidth = width / heads;
    kernels.cachedAttention(
      qkv,
      mixed,
      pointers,
      positions,
      scratch,
      layerOffset,
      cache.valueOffset,
      rows,
      heads,
      headWidth,
    );
    kernels.matmul(mixed, weights + 4 * offsets.attentionOutput, x, rows, width, width, x);
    kernels.rmsNorm(x, weights + 4 * offsets.feedForwardNorm, normed, inverseRms, rows, width);
    kernels.matmul(normed, weights + 4 * offsets.up, up, rows, feedForward, width, 0);
    kernels.squaredRelu(up, up, rows * feedForward);
    kernels.matmul(up, weights + 4 * offsets.down, x, rows, width, feedForward, x);
  }
  kernels.gatherRows(x, lastRows, last, end - start, width);
  for (let s = start; s < end; s++) slots[s].cached = slots[s].length;
}

/** Offsets are in numbers. */
function writeRows(
  i32: Int32Array,
  slots: readonly CacheSlot[],
  start: number,
  end: number,
  tokens: number,
  positions: number,
  pointers: number,
  lastRows: number,
): void {
  let row = 0;
  for (let s = start; s < end; s++) {
    const slot = slots[s];
    for (let position = slot.cached; position < slot.length; position++, row++) {
      i32[tokens + row] = slot.tokens[position];
      i32[positions + row] = position;
      i32[pointers + row] = slot.pointer;
    }
    i32[lastRows + s - start] = row - 1;
  }
}
