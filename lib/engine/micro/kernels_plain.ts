import type { Kernels, Pointer } from "./kernels.ts";

const PAGE = 65536;

/**
 * The kernels as plain loops: what the compiled ones are tested against, and a fallback where WebAssembly SIMD is
 * missing. About thirty times slower; sums run in float64, so the last bits differ from the compiled ones.
 */
export function plainKernels(): Kernels {
  let buffer = new ArrayBuffer(PAGE);
  let f32 = new Float32Array(buffer);
  let i32 = new Int32Array(buffer);
  const memory = {
    get buffer() {
      return buffer;
    },
    grow(pages: number): number {
      const before = buffer.byteLength / PAGE;
      const grown = new ArrayBuffer(buffer.byteLength + pages * PAGE);
      new Uint8Array(grown).set(new Uint8Array(buffer));
      buffer = grown;
      f32 = new Float32Array(buffer);
      i32 = new Int32Array(buffer);
      return before;
    },
  };
  const at = (pointer: Pointer) => pointer >> 2;

  /** One query of one head against `count` keys and values, `stride` numbers apart; offsets in numbers. */
  function attend(
    q: number,
    k: number,
    v: number,
    stride: number,
    out: number,
    p: number,
    count: number,
    size: number,
  ) {
    let largest = -Infinity;
    for (let j = 0; j < count; j++) {
      f32[p + j] = dot(q, k + j * stride, size) / Math.sqrt(size);
      largest = Math.max(largest, f32[p + j]);
    }
    let sum = 0;
    for (let j = 0; j < count; j++) sum += f32[p + j] = Math.exp(f32[p + j] - largest);
    for (let j = 0; j < count; j++) f32[p + j] /= sum;
    for (let c = 0; c < size; c++) {
      let mixed = 0;
      for (let j = 0; j < count; j++) mixed += f32[p + j] * f32[v + j * stride + c];
      f32[out + c] = mixed;
    }
  }

  function dot(a: number, b: number, size: number): number {
    let sum = 0;
    for (let c = 0; c < size; c++) sum += f32[a + c] * f32[b + c];
    return sum;
  }

  return {
    memory,
    heapBase: PAGE / 64,

    matmul(a, b, c, m, n, k, addend) {
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          let sum = 0;
          for (let l = 0; l < k; l++) sum += f32[at(a) + i * k + l] * f32[at(b) + l * n + j];
          f32[at(c) + i * n + j] = addend === 0 ? sum : sum + f32[at(addend) + i * n + j];
        }
      }
    },
    addTransposedMatmul(a, b, c, m, n, k) {
      for (let i = 0; i < k; i++) {
        for (let j = 0; j < n; j++) {
          let sum = 0;
          for (let l = 0; l < m; l++) sum += f32[at(a) + l * k + i] * f32[at(b) + l * n + j];
          f32[at(c) + i * n + j] += sum;
        }
      }
    },
    transpose(a, b, rows, columns) {
      for (let i = 0; i < rows; i++) {
        for (let j = 0; j < columns; j++) f32[at(b) + j * rows + i] = f32[at(a) + i * columns + j];
      }
    },

    gatherRows(table, index, out, rows, width) {
      for (let i = 0; i < rows; i++) {
        const from = at(table) + i32[at(index) + i] * width;
        f32.copyWithin(at(out) + i * width, from, from + width);
      }
    },
    scatterAddRows(table, index, x, rows, width) {
      for (let i = 0; i < rows; i++) {
        const to = at(table) + i32[at(index) + i] * width;
        for (let c = 0; c < width; c++) f32[to + c] += f32[at(x) + i * width + c];
      }
    },

    rmsNorm(x, gain, y, inverseRms, rows, width) {
      for (let i = 0; i < rows; i++) {
        const row = at(x) + i * width;
        const inverse = 1 / Math.sqrt(dot(row, row, width) / width + 1e-5);
        f32[at(inverseRms) + i] = inverse;
        for (let c = 0; c < width; c++) f32[at(y) + i * width + c] = f32[row + c] * inverse * f32[at(gain) + c];
      }
    },
    rmsNormBackward(x, gain, inverseRms, dy, dx, dGain, rows, width) {
      for (let i = 0; i < rows; i++) {
        const inverse = f32[at(inverseRms) + i];
        let mean = 0;
        for (let c = 0; c < width; c++) {
          const normed = f32[at(x) + i * width + c] * inverse;
          const d = f32[at(dy) + i * width + c];
          mean += d * f32[at(gain) + c] * normed / width;
          f32[at(dGain) + c] += d * normed;
        }
        for (let c = 0; c < width; c++) {
          const normed = f32[at(x) + i * width + c] * inverse;
          f32[at(dx) + i * width + c] += inverse * (f32[at(dy) + i * width + c] * f32[at(gain) + c] - normed * mean);
        }
      }
    },

    squaredRelu(x, y, size) {
      for (let i = 0; i < size; i++) f32[at(y) + i] = Math.max(f32[at(x) + i], 0) ** 2;
    },
    squaredReluBackward(x, dy, size) {
      for (let i = 0; i < size; i++) f32[at(dy) + i] *= 2 * Math.max(f32[at(x) + i], 0);
    },

    rotate(x, stride, positions, cosine, sine, rows, heads, headWidth, sign) {
      const half = headWidth / 2;
      for (let i = 0; i < rows; i++) {
        const table = i32[at(positions) + i] * half;
        for (let h = 0; h < heads; h++) {
          const head = at(x) + i * stride + h * headWidth;
          for (let c = 0; c < half; c++) {
            const cos = f32[at(cosine) + table + c];
            const sin = sign * f32[at(sine) + table + c];
            const [x0, x1] = [f32[head + c], f32[head + half + c]];
            f32[head + c] = x0 * cos - x1 * sin;
            f32[head + half + c] = x1 * cos + x0 * sin;
          }
        }
      }
    },

    attention(qkv, out, probabilities, length, heads, headWidth) {
      const width = heads * headWidth;
      const stride = 3 * width;
      const pitch = (length + 3) & ~3;
      for (let h = 0; h < heads; h++) {
        const head = at(qkv) + h * headWidth;
        for (let i = 0; i < length; i++) {
          const to = at(out) + i * width + h * headWidth;
          const p = at(probabilities) + (h * length + i) * pitch;
          attend(head + i * stride, head + width, head + 2 * width, stride, to, p, i + 1, headWidth);
        }
      }
    },
    attentionBackward(qkv, dOut, probabilities, dQkv, scratch, length, heads, headWidth) {
      const width = heads * headWidth;
      const stride = 3 * width;
      const pitch = (length + 3) & ~3;
      const ds = at(scratch);
      for (let h = 0; h < heads; h++) {
        const head = at(qkv) + h * headWidth;
        const dHead = at(dQkv) + h * headWidth;
        for (let i = 0; i < length; i++) {
          const dTo = at(dOut) + i * width + h * headWidth;
          const p = at(probabilities) + (h * length + i) * pitch;
          let mean = 0;
          for (let j = 0; j <= i; j++) {
            f32[ds + j] = dot(dTo, head + 2 * width + j * stride, headWidth);
            mean += f32[ds + j] * f32[p + j];
          }
          for (let j = 0; j <= i; j++) {
            const score = f32[p + j] * (f32[ds + j] - mean) / Math.sqrt(headWidth);
            for (let c = 0; c < headWidth; c++) {
              f32[dHead + i * stride + c] += score * f32[head + width + j * stride + c];
              f32[dHead + width + j * stride + c] += score * f32[head + i * stride + c];
              f32[dHead + 2 * width + j * stride + c] += f32[p + j] * f32[dTo + c];
            }
          }
        }
      }
    },
    cachedAttention(qkv, out, cache, positions, scratch, layerOffset, valueOffset, rows, heads, headWidth) {
      const width = heads * headWidth;
      for (let i = 0; i < rows; i++) {
        const to = at(i32[at(cache) + i] + layerOffset) + i32[at(positions) + i] * width;
        const key = at(qkv) + (3 * i + 1) * width;
        f32.copyWithin(to, key, key + width);
        f32.copyWithin(to + at(valueOffset), key + width, key + 2 * width);
      }
      for (let i = 0; i < rows; i++) {
        const keys = at(i32[at(cache) + i] + layerOffset);
        const count = i32[at(positions) + i] + 1;
        for (let h = 0; h < heads; h++) {
          const head = keys + h * headWidth;
          const query = at(qkv) + 3 * i * width + h * headWidth;
          const to = at(out) + i * width + h * headWidth;
          attend(query, head, head + at(valueOffset), width, to, at(scratch), count, headWidth);
        }
      }
    },

    logSoftmax(logits, entropy, rows, columns, scale) {
      for (let i = 0; i < rows; i++) {
        const row = f32.subarray(at(logits) + i * columns, at(logits) + (i + 1) * columns);
        const largest = row.reduce((max, z) => Math.max(max, z * scale), -Infinity);
        const logTotal = largest + Math.log(row.reduce((sum, z) => sum + Math.exp(z * scale - largest), 0));
        row.forEach((z, c) => row[c] = z * scale - logTotal);
        f32[at(entropy) + i] = -row.reduce((sum, logprob) => sum + Math.exp(logprob) * logprob, 0);
      }
    },
    exponential(x, y, size) {
      for (let i = 0; i < size; i++) f32[at(y) + i] = Math.exp(f32[at(x) + i]);
    },
    targetBackward(logprobs, targets, dTarget, rows, columns) {
      for (let i = 0; i < rows; i++) {
        const row = at(logprobs) + i * columns;
        const d = f32[at(dTarget) + i];
        for (let c = 0; c < columns; c++) f32[row + c] = -d * Math.exp(f32[row + c]);
        f32[row + i32[at(targets) + i]] += d;
      }
    },
    divergence(student, teacher, result, rows, columns) {
      for (let i = 0; i < rows; i++) {
        let sum = 0;
        for (let c = i * columns; c < (i + 1) * columns; c++) {
          sum += Math.exp(f32[at(teacher) + c]) * (f32[at(teacher) + c] - f32[at(student) + c]);
        }
        f32[at(result) + i] = sum;
      }
    },
    divergenceBackward(student, teacher, weight, rows, columns) {
      for (let i = 0; i < rows; i++) {
        for (let c = i * columns; c < (i + 1) * columns; c++) {
          const difference = Math.exp(f32[at(student) + c]) - Math.exp(f32[at(teacher) + c]);
          f32[at(student) + c] = f32[at(weight) + i] * difference;
        }
      }
    },

    zero(x, size) {
      f32.fill(0, at(x), at(x) + size);
    },
    addScaled(x, y, size, factor) {
      for (let i = 0; i < size; i++) f32[at(y) + i] += factor * f32[at(x) + i];
    },
    sumOfSquares(x, size) {
      return dot(at(x), at(x), size);
    },
    adamW(weights, gradient, mean, variance, size, stepSize, beta1, beta2, epsilon, inverseCorrection, decay, scale) {
      const [w, m, v] = [at(weights), at(mean), at(variance)];
      for (let i = 0; i < size; i++) {
        const g = scale * f32[at(gradient) + i];
        f32[m + i] = beta1 * f32[m + i] + (1 - beta1) * g;
        f32[v + i] = beta2 * f32[v + i] + (1 - beta2) * g * g;
        f32[w + i] = decay * f32[w + i] - stepSize * f32[m + i] / (Math.sqrt(f32[v + i] * inverseCorrection) + epsilon);
      }
    },
  };
}
