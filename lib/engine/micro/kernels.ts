/** Byte offset of an array in the kernels' memory. */
export type Pointer = number;

/** Memory that the kernels read and write; its buffer is replaced when it grows. */
export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  /** Adds `pages` of 64 KiB. */
  grow(pages: number): number;
}

/**
 * The arithmetic of the model: dense loops over float32 arrays in one memory. Arrays are row-major.
 *
 * What a row of a result is does not depend on which other rows are computed with it: sums run over the inner
 * dimension in a fixed order. The engine's batch invariance rests on this.
 */
export interface Kernels {
  readonly memory: KernelMemory;
  /** First byte that the kernels' own constants do not occupy. */
  readonly heapBase: Pointer;

  /** c[m,n] = a[m,k] · b[k,n] + addend[m,n]; `addend` 0 is none, and it may be `c`. n is a multiple of 8. */
  matmul(a: Pointer, b: Pointer, c: Pointer, m: number, n: number, k: number, addend: Pointer): void;
  /** c[k,n] += a[m,k]ᵀ · b[m,n]; k is a multiple of 4, n of 8. */
  addTransposedMatmul(a: Pointer, b: Pointer, c: Pointer, m: number, n: number, k: number): void;
  /** b[columns,rows] = a[rows,columns]ᵀ. */
  transpose(a: Pointer, b: Pointer, rows: number, columns: number): void;

  /** out[i] = table[index[i]]; the index is int32. */
  gatherRows(table: Pointer, index: Pointer, out: Pointer, rows: number, width: number): void;
  /** table[index[i]] += x[i]. */
  scatterAddRows(table: Pointer, index: Pointer, x: Pointer, rows: number, width: number): void;

  /** y = gain · x / rms(x), row by row; keeps 1 / rms for the way back. ε is 1e-5. */
  rmsNorm(x: Pointer, gain: Pointer, y: Pointer, inverseRms: Pointer, rows: number, width: number): void;
  /** Way back of `rmsNorm`: dx += …, dGain += … */
  rmsNormBackward(
    x: Pointer,
    gain: Pointer,
    inverseRms: Pointer,
    dy: Pointer,
    dx: Pointer,
    dGain: Pointer,
    rows: number,
    width: number,
  ): void;

  /** y = max(x, 0)². */
  squaredRelu(x: Pointer, y: Pointer, size: number): void;
  /** dy becomes the derivative by x, in place. */
  squaredReluBackward(x: Pointer, dy: Pointer, size: number): void;

  /** Rotary positions: turns the halves of every head's first `heads` · `headWidth` numbers; sign −1 turns back. */
  rotate(
    x: Pointer,
    stride: number,
    positions: Pointer,
    cosine: Pointer,
    sine: Pointer,
    rows: number,
    heads: number,
    headWidth: number,
    sign: number,
  ): void;

  /**
   * Causal attention of one sequence. `qkv` is [length, 3 · width], `out` [length, width]; `probabilities` is
   * [heads, length, pitch], kept for the way back, with pitch = length rounded up to a multiple of 4.
   */
  attention(
    qkv: Pointer,
    out: Pointer,
    probabilities: Pointer,
    length: number,
    heads: number,
    headWidth: number,
  ): void;
  /** Way back of `attention`. `dQkv` must hold zeros. `scratch` has room for `pitch` numbers. */
  attentionBackward(
    qkv: Pointer,
    dOut: Pointer,
    probabilities: Pointer,
    dQkv: Pointer,
    scratch: Pointer,
    length: number,
    heads: number,
    headWidth: number,
  ): void;
  /**
   * Attention of rows of `qkv` to cached keys and values. Row i writes its own key and value at
   * `cache[i] + layerOffset` (int32 byte pointers; values start `valueOffset` bytes behind the keys), position
   * `positions[i]`, before any row reads. `scratch` has room for the longest context, rounded up to a multiple of 4.
   */
  cachedAttention(
    qkv: Pointer,
    out: Pointer,
    cache: Pointer,
    positions: Pointer,
    scratch: Pointer,
    layerOffset: number,
    valueOffset: number,
    rows: number,
    heads: number,
    headWidth: number,
  ): void;

  /** Logits become log softmax(scale · logits), in place; `entropy[i]` is that of row i, in nats. */
  logSoftmax(logits: Pointer, entropy: Pointer, rows: number, columns: number, scale: number): void;
  /** y = exp(x). */
  exponential(x: Pointer, y: Pointer, size: number): void;
  /** Log-probabilities become the derivative by the logits of Σ dTarget[i] · log p(target[i]), in place. */
  targetBackward(logprobs: Pointer, targets: Pointer, dTarget: Pointer, rows: number, columns: number): void;
  /** divergence[i] = KL(teacher[i] ‖ student[i]) of rows of log-probabilities. */
  divergence(student: Pointer, teacher: Pointer, divergence: Pointer, rows: number, columns: number): void;
  /** The student's log-probabilities become the derivative by its logits of Σ weight[i] · KL(teacher[i] ‖ student[i]). */
  divergenceBackward(student: Pointer, teacher: Pointer, weight: Pointer, rows: number, columns: number): void;

  /** x = 0. */
  zero(x: Pointer, size: number): void;
  /** y += factor · x. */
  addScaled(x: Pointer, y: Pointer, size: number, factor: number): void;
  /** Σ x², summed in float64. */
  sumOfSquares(x: Pointer, size: number): number;
  /**
   * One AdamW step: `stepSize` is learning rate / (1 − β₁ᵗ), `inverseCorrection` 1 / (1 − β₂ᵗ), `decay` 1 − learning
   * rate · weight decay, `gradientScale` multiplies the gradient (norm clipping).
   */
  adamW(
    weights: Pointer,
    gradient: Pointer,
    mean: Pointer,
    variance: Pointer,
    size: number,
    stepSize: number,
    beta1: number,
    beta2: number,
    epsilon: number,
    inverseCorrection: number,
    decay: number,
    gradientScale: number,
  ): void;
}
