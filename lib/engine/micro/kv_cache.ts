import type { Pointer } from "./kernels.ts";
import type { Model } from "./model.ts";

/** Keys and values of up to `slots` contexts, and which tokens they belong to. */
export interface KvCache {
  slots: readonly CacheSlot[];
  /** Bytes between a position's key and its value in one layer. */
  valueOffset: number;
  /** Bytes between a slot's layers. */
  layerStride: number;
  /** Number of uses so far. */
  clock: number;
}

/** The keys and values of one context. */
export interface CacheSlot {
  /** Of the first layer's keys. */
  pointer: Pointer;
  /** The context; room for its full length. */
  tokens: Int32Array;
  /** Number of tokens in the context. */
  length: number;
  /** Number of tokens, from the first, whose keys and values are here. */
  cached: number;
  /** When it was last used, to give up the oldest. */
  lastUse: number;
}

/** Room for `count` contexts of full length. */
export function createKvCache({ shape, arena }: Model, count: number): KvCache {
  const { contextLength, width, layers } = shape;
  const valueOffset = 4 * contextLength * width;
  const layerStride = 2 * valueOffset;
  const slots = Array.from({ length: count }, (): CacheSlot => ({
    pointer: arena.keep(layers * layerStride / 4),
    tokens: new Int32Array(contextLength),
    length: 0,
    cached: 0,
    lastUse: 0,
  }));
  return { slots, valueOffset, layerStride, clock: 0 };
}

/** Forgets all contexts: their keys and values are those of other weights. */
export function clearKvCache({ slots }: KvCache): void {
  for (const slot of slots) slot.length = slot.cached = 0;
}

/** Makes `to` hold what `from` holds. */
export function copySlot({ arena, shape }: Model, cache: KvCache, from: CacheSlot, to: CacheSlot): void {
  if (from === to) return;
  const size = from.cached * shape.width;
  for (let layer = 0; layer < shape.layers; layer++) {
    for (const offset of [layer * cache.layerStride, layer * cache.layerStride + cache.valueOffset]) {
      const start = (from.pointer + offset) >> 2;
      arena.f32.copyWithin((to.pointer + offset) >> 2, start, start + size);
    }
  }
  to.tokens.set(from.tokens.subarray(0, from.length));
  to.length = from.length;
  to.cached = from.cached;
}

/**
 * A slot for every context, each slot once. A context that goes on behind a slot's tokens gets that slot; the others
 * get the free slot that shares most tokens with them, the least recently used among equals.
 *
 * @param contexts at most as many as there are slots
 */
export function assignSlots({ slots }: KvCache, contexts: readonly Int32Array[]): CacheSlot[] {
  const free = new Set(slots);
  const assigned = contexts.map((context): CacheSlot | undefined => {
    let best: CacheSlot | undefined;
    for (const slot of free) {
      if (slot.cached > (best?.cached ?? 0) && commonPrefix(slot, context) === slot.cached) best = slot;
    }
    if (best !== undefined) free.delete(best);
    return best;
  });
  return contexts.map((context, i) => {
    if (assigned[i] !== undefined) return assigned[i];
    let best: CacheSlot | undefined;
    let most = -1;
    for (const slot of free) {
      const shared = commonPrefix(slot, context);
      if (shared > most || (shared === most && slot.lastUse < best!.lastUse)) [best, most] = [slot, shared];
    }
    if (best === undefined) throw new RangeError(`Cannot cache ${contexts.length} contexts in ${slots.length} slots`);
    free.delete(best);
    return best;
  });
}

/** Number of leading tokens of a context that a slot has cached. */
export function commonPrefix({ tokens, cached }: CacheSlot, context: Int32Array): number {
  const most = Math.min(cached, context.length);
  let shared = 0;
  while (shared < most && tokens[shared] === context[shared]) shared++;
  return shared;
}
