import { expect, test } from "vitest";
import { type Arena, createArena } from "../../../lib/engine/micro/arena.ts";
import type { Kernels, Pointer } from "../../../lib/engine/micro/kernels.ts";
import { plainKernels } from "../../../lib/engine/micro/kernels_plain.ts";
import { loadWasmKernels } from "../../../lib/engine/micro/kernels_wasm.ts";
import { randomStream } from "../../../lib/random/stream.ts";
import { relativeError } from "./example_batch.ts";

/** Runs one kernel on fresh random arrays; returns what it wrote. */
type Run = (kernels: Kernels, arrays: Arrays) => Pointer[] | number;

interface Arrays {
  arena: Arena;
  /** Random numbers of a named size. */
  floats(size: number, low?: number, high?: number): Pointer;
  ints(...values: number[]): Pointer;
}

const CASES: Record<string, Run> = {
  "matmul() without addend": (kernels, { floats }) => {
    const [a, b, c] = [floats(13 * 8), floats(8 * 24), floats(13 * 24)];
    kernels.matmul(a, b, c, 13, 24, 8, 0);
    return [c];
  },
  "matmul() in place of its addend": (kernels, { floats }) => {
    const [a, b, c] = [floats(133 * 32), floats(32 * 8), floats(133 * 8)];
    kernels.matmul(a, b, c, 133, 8, 32, c);
    return [c];
  },
  "matmul() of one row": (kernels, { floats }) => {
    const [a, b, c, d] = [floats(64), floats(64 * 40), floats(40), floats(40)];
    kernels.matmul(a, b, c, 1, 40, 64, d);
    return [c];
  },
  "addTransposedMatmul()": (kernels, { floats }) => {
    const [a, b, c] = [floats(135 * 12), floats(135 * 40), floats(12 * 40)];
    kernels.addTransposedMatmul(a, b, c, 135, 40, 12);
    return [c];
  },
  "transpose()": (kernels, { floats }) => {
    const [a, b] = [floats(12 * 7), floats(12 * 7)];
    kernels.transpose(a, b, 12, 7);
    return [b];
  },
  "gatherRows()": (kernels, { floats, ints }) => {
    const [table, out] = [floats(5 * 16), floats(4 * 16)];
    kernels.gatherRows(table, ints(3, 0, 3, 4), out, 4, 16);
    return [out];
  },
  "scatterAddRows() into repeated rows": (kernels, { floats, ints }) => {
    const [table, x] = [floats(5 * 16), floats(4 * 16)];
    kernels.scatterAddRows(table, ints(3, 0, 3, 4), x, 4, 16);
    return [table];
  },
  "rmsNorm()": (kernels, { floats }) => {
    const [x, gain, y, inverse] = [floats(3 * 48), floats(48), floats(3 * 48), floats(3)];
    kernels.rmsNorm(x, gain, y, inverse, 3, 48);
    return [y, inverse];
  },
  "rmsNormBackward()": (kernels, { floats }) => {
    const [x, gain, inverse, dy, dx, dGain] = [floats(96), floats(48), floats(2), floats(96), floats(96), floats(48)];
    kernels.rmsNormBackward(x, gain, inverse, dy, dx, dGain, 2, 48);
    return [dx, dGain];
  },
  "squaredRelu()": (kernels, { floats }) => {
    const [x, y] = [floats(40), floats(40)];
    kernels.squaredRelu(x, y, 40);
    return [y];
  },
  "squaredReluBackward()": (kernels, { floats }) => {
    const [x, dy] = [floats(40), floats(40)];
    kernels.squaredReluBackward(x, dy, 40);
    return [dy];
  },
  "rotate() there": (kernels, { floats, ints }) => {
    const [x, cosine, sine] = [floats(3 * 96), floats(8 * 8), floats(8 * 8)];
    kernels.rotate(x, 96, ints(7, 0, 3), cosine, sine, 3, 4, 16, 1);
    return [x];
  },
  "rotate() back": (kernels, { floats, ints }) => {
    const [x, cosine, sine] = [floats(3 * 96), floats(8 * 16), floats(8 * 16)];
    kernels.rotate(x, 96, ints(7, 0, 3), cosine, sine, 3, 2, 32, -1);
    return [x];
  },
  ...Object.fromEntries([1, 2, 3, 4, 5, 11].flatMap((length) => [[
    `attention() and its way back over ${length} tokens`,
    (kernels: Kernels, { floats }: Arrays) => {
      const [qkv, out, dOut] = [floats(length * 96), floats(length * 32), floats(length * 32)];
      const [p, dQkv, scratch] = [
        floats(2 * length * ((length + 3) & ~3)),
        floats(length * 96, 0, 0),
        floats(length + 3),
      ];
      kernels.attention(qkv, out, p, length, 2, 16);
      kernels.attentionBackward(qkv, dOut, p, dQkv, scratch, length, 2, 16);
      return [out, dQkv];
    },
  ]])),
  "cachedAttention()": (kernels, { floats, ints }) => {
    const [qkv, out, cache, scratch] = [floats(4 * 192), floats(4 * 64), floats(2 * 2 * 2 * 8 * 64), floats(12)];
    const slot = 4 * 2 * 2 * 8 * 64;
    const pointers = ints(cache, cache, cache + slot, cache + slot);
    kernels.cachedAttention(qkv, out, pointers, ints(4, 5, 0, 1), scratch, slot / 2, slot / 4, 4, 2, 32);
    return [out, cache];
  },
  "logSoftmax()": (kernels, { floats }) => {
    const [logits, entropy] = [floats(3 * 40, -30, 30), floats(3)];
    kernels.logSoftmax(logits, entropy, 3, 40, 1.5);
    return [logits, entropy];
  },
  "exponential()": (kernels, { floats }) => {
    const [x, y] = [floats(400, -20, 5), floats(400)];
    kernels.exponential(x, y, 400);
    return [y];
  },
  "targetBackward()": (kernels, { floats, ints }) => {
    const [logprobs, d] = [floats(3 * 24, -6, 0), floats(3)];
    kernels.targetBackward(logprobs, ints(23, 0, 7), d, 3, 24);
    return [logprobs];
  },
  "divergence()": (kernels, { floats }) => {
    const [student, teacher, result] = [floats(3 * 24, -6, 0), floats(3 * 24, -6, 0), floats(3)];
    kernels.divergence(student, teacher, result, 3, 24);
    return [result];
  },
  "divergenceBackward()": (kernels, { floats }) => {
    const [student, teacher, weight] = [floats(3 * 24, -6, 0), floats(3 * 24, -6, 0), floats(3)];
    kernels.divergenceBackward(student, teacher, weight, 3, 24);
    return [student];
  },
  "zero()": (kernels, { floats }) => {
    const x = floats(24);
    kernels.zero(x, 17);
    return [x];
  },
  "addScaled()": (kernels, { floats }) => {
    const [x, y] = [floats(24), floats(24)];
    kernels.addScaled(x, y, 24, -0.3);
    return [y];
  },
  "sumOfSquares() beyond float32's range": (kernels, { floats }) => kernels.sumOfSquares(floats(24, 1e25, 1e26), 24),
  "adamW()": (kernels, { floats }) => {
    const [weights, gradient, mean, variance] = [floats(24), floats(24), floats(24), floats(24, 0, 1)];
    kernels.adamW(weights, gradient, mean, variance, 24, 0.01, 0.9, 0.95, 1e-8, 1.3, 0.99, 0.5);
    return [weights, mean, variance];
  },
};

test.each(Object.entries(CASES))("%s: compiled and plain kernels agree", (_, run) => {
  const compiled = results(loadWasmKernels(), run);
  const plain = results(plainKernels(), run);
  expect(relativeError(compiled, plain)).toBeLessThan(2e-6);
  expect(plain.some((value) => value !== 0)).toBe(true);
});

test("matmul() gives a row the same bits whatever rows are beside it", () => {
  const kernels = loadWasmKernels();
  const { arena, floats } = arraysFor(kernels);
  const [a, b, together, alone] = [floats(71 * 48), floats(48 * 40), floats(71 * 40), floats(40)];
  kernels.matmul(a, b, together, 71, 40, 48, 0);
  for (let row = 0; row < 71; row++) {
    kernels.matmul(a + 4 * 48 * row, b, alone, 1, 40, 48, 0);
    const start = (together >> 2) + 40 * row;
    expect(arena.f32.slice(alone >> 2, (alone >> 2) + 40)).toEqual(arena.f32.slice(start, start + 40));
  }
});

test.each([1, 2, 3, 5, 6, 7])("attention and its way back read nothing behind a sequence of %i tokens", (length) => {
  const kernels = loadWasmKernels();
  const { arena, floats } = arraysFor(kernels);
  const [qkv, out, dOut] = [floats((length + 4) * 96), floats(length * 32), floats((length + 4) * 32)];
  const pitch = (length + 3) & ~3;
  const [p, dQkv, scratch] = [floats(2 * length * pitch, NaN, NaN), floats(length * 96, 0, 0), floats(pitch, NaN, NaN)];
  arena.f32.fill(NaN, (qkv >> 2) + length * 96, (qkv >> 2) + (length + 4) * 96);
  arena.f32.fill(NaN, (dOut >> 2) + length * 32, (dOut >> 2) + (length + 4) * 32);
  kernels.attention(qkv, out, p, length, 2, 16);
  kernels.attentionBackward(qkv, dOut, p, dQkv, scratch, length, 2, 16);
  expect(arena.f32.slice(out >> 2, (out >> 2) + length * 32).every(Number.isFinite)).toBe(true);
  expect(arena.f32.slice(dQkv >> 2, (dQkv >> 2) + length * 96).every(Number.isFinite)).toBe(true);
});

test("exponential() keeps NaN, so that a broken gradient is seen", () => {
  const kernels = loadWasmKernels();
  const { arena, floats } = arraysFor(kernels);
  const [x, y] = [floats(4, NaN, NaN), floats(4)];
  kernels.exponential(x, y, 4);
  expect([...arena.f32.slice(y >> 2, (y >> 2) + 4)]).toEqual([NaN, NaN, NaN, NaN]);
});

test("exponential() is within 2e-7 of Math.exp", () => {
  const kernels = loadWasmKernels();
  const { arena, floats } = arraysFor(kernels);
  const [x, y] = [floats(4000, -80, 80), floats(4000)];
  kernels.exponential(x, y, 4000);
  for (let i = 0; i < 4000; i++) {
    expect(Math.abs(arena.f32[(y >> 2) + i] / Math.exp(arena.f32[(x >> 2) + i]) - 1)).toBeLessThan(2e-7);
  }
});

/** Everything that a run wrote, up to the next array. */
function results(kernels: Kernels, run: Run): Float64Array {
  const arrays = arraysFor(kernels);
  const written = run(kernels, arrays);
  if (typeof written === "number") return Float64Array.of(written);
  return Float64Array.from(written.flatMap((pointer) => [...arrays.read(pointer)]));
}

function arraysFor(kernels: Kernels): Arrays & { read(pointer: Pointer): Float32Array } {
  const stream = randomStream("kernels");
  // The same addresses for both kinds, as cached pointers are data.
  const arena = createArena(kernels.memory, Math.max(kernels.heapBase, 65536));
  const sizes = new Map<Pointer, number>();
  return {
    arena,
    floats(size, low = -1, high = 1) {
      const pointer = arena.take(size);
      sizes.set(pointer, size);
      for (let i = 0; i < size; i++) arena.f32[(pointer >> 2) + i] = low + (high - low) * stream.next();
      return pointer;
    },
    ints(...values) {
      const pointer = arena.take(values.length);
      arena.i32.set(values, pointer >> 2);
      return pointer;
    },
    read: (pointer) => arena.f32.slice(pointer >> 2, (pointer >> 2) + sizes.get(pointer)!),
  };
}
