import type { KernelMemory, Pointer } from "./kernels.ts";

const PAGE = 65536;
const ALIGNMENT = 64; // bytes of a cache line
const MOST_BYTES = 2 ** 31 - PAGE; // int32 pointers

/**
 * The kernels' memory as two stacks: what is kept (weights, caches), and behind it what one call needs. The memory
 * grows as far as it is used and no further.
 */
export interface Arena {
  /** The memory as numbers; a new view after every growth, so never keep it across an allocation. */
  readonly f32: Float32Array;
  /** The same as whole numbers. */
  readonly i32: Int32Array;
  /** Room for `size` numbers that stays; only between calls. New memory holds zeros, used memory anything. */
  keep(size: number): Pointer;
  /** Room for `size` numbers until it is released. It holds anything. */
  take(size: number): Pointer;
  /** Where the next room will start. */
  mark(): Pointer;
  /** Gives back everything that was taken since a mark; without one, everything. */
  release(mark?: Pointer): void;
}

/** An arena over the kernels' memory. @param base first byte that is free */
export function createArena(memory: KernelMemory, base: Pointer): Arena {
  let kept = align(base);
  let top = kept;
  let f32 = new Float32Array(memory.buffer);
  let i32 = new Int32Array(memory.buffer);
  const take = (size: number): Pointer => {
    const pointer = top;
    reach(align(top + 4 * size));
    return pointer;
  };
  const reach = (end: number): void => {
    if (end > MOST_BYTES) {
      throw new RangeError(
        `Cannot give the embedded engine ${Math.ceil(end / 2 ** 20)} MiB of memory: it can use 2048; ` +
          "use a smaller model, a shorter context or fewer cache slots",
      );
    }
    const missing = Math.ceil((end - memory.buffer.byteLength) / PAGE);
    if (missing > 0) {
      memory.grow(missing);
      f32 = new Float32Array(memory.buffer);
      i32 = new Int32Array(memory.buffer);
    }
    top = end;
  };
  return {
    get f32() {
      return f32;
    },
    get i32() {
      return i32;
    },
    take,
    keep(size) {
      top = kept;
      const pointer = take(size);
      kept = top;
      return pointer;
    },
    mark: () => top,
    release(mark = kept) {
      top = mark;
    },
  };
}

function align(address: number): number {
  return Math.ceil(address / ALIGNMENT) * ALIGNMENT;
}
