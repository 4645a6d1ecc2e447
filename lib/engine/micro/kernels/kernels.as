// The embedded engine's arithmetic in AssemblyScript; ../kernels.ts says what each function computes.
// Build: deno run -A scripts/build_kernels.ts. (The file is not named .ts because it is not TypeScript.)
//
// Pointers are byte offsets that the host manages; sizes count float32 numbers. Plain SIMD only: relaxed SIMD (fused
// multiply-add) would give other bits on other machines.

/** First byte behind the constants of the compiled module. */
export const heapBase: usize = __heap_base;

const NONE: f32 = -1e30; // stands in for −∞ in attention scores: no difference of two is NaN

@inline
function multiplyAdd(a: v128, b: v128, c: v128): v128 {
  return f32x4.add(f32x4.mul(a, b), c);
}

@inline
function sumLanes(x: v128): f32 {
  return f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 1) + f32x4.extract_lane(x, 2) + f32x4.extract_lane(x, 3);
}

@inline
function maxLanes(x: v128): f32 {
  return max(
    max(f32x4.extract_lane(x, 0), f32x4.extract_lane(x, 1)),
    max(f32x4.extract_lane(x, 2), f32x4.extract_lane(x, 3)),
  );
}

@inline
function bytes(numbers: i32): usize {
  return usize(numbers) << 2;
}

// ---- matrices

const ROW_BLOCK: i32 = 64; // rows of a that stay in the first-level cache while all columns of b pass

export function matmul(a: usize, b: usize, c: usize, m: i32, n: i32, k: i32, addend: usize): void {
  const aStride = bytes(k), bStride = bytes(n);
  for (let block = 0; block < m; block += ROW_BLOCK) {
    const end = min(block + ROW_BLOCK, m);
    for (let column = 0; column < n; column += 8) {
      const bColumn = b + bytes(column);
      let row = block;
      for (; row + 4 <= end; row += 4) {
        const at = usize(row) * bStride + bytes(column);
        fourRows(a + usize(row) * aStride, aStride, bColumn, bStride, c + at, addend ? addend + at : 0);
      }
      for (; row < end; row++) {
        const at = usize(row) * bStride + bytes(column);
        oneRow(a + usize(row) * aStride, aStride, bColumn, bStride, c + at, addend ? addend + at : 0);
      }
    }
  }
}

@inline
function fourRows(a: usize, aStride: usize, b: usize, bStride: usize, c: usize, addend: usize): void {
  let a0 = a, a1 = a0 + aStride, a2 = a1 + aStride, a3 = a2 + aStride;
  let c00 = f32x4.splat(0), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00, c30 = c00, c31 = c00;
  const aEnd = a1;
  while (a0 < aEnd) {
    const b0 = v128.load(b), b1 = v128.load(b, 16);
    let x = v128.load32_splat(a0);
    c00 = multiplyAdd(x, b0, c00);
    c01 = multiplyAdd(x, b1, c01);
    x = v128.load32_splat(a1);
    c10 = multiplyAdd(x, b0, c10);
    c11 = multiplyAdd(x, b1, c11);
    x = v128.load32_splat(a2);
    c20 = multiplyAdd(x, b0, c20);
    c21 = multiplyAdd(x, b1, c21);
    x = v128.load32_splat(a3);
    c30 = multiplyAdd(x, b0, c30);
    c31 = multiplyAdd(x, b1, c31);
    a0 += 4;
    a1 += 4;
    a2 += 4;
    a3 += 4;
    b += bStride;
  }
  storeRow(c, c00, c01, addend);
  storeRow(c + bStride, c10, c11, addend ? addend + bStride : 0);
  storeRow(c + 2 * bStride, c20, c21, addend ? addend + 2 * bStride : 0);
  storeRow(c + 3 * bStride, c30, c31, addend ? addend + 3 * bStride : 0);
}

@inline
function oneRow(a: usize, aStride: usize, b: usize, bStride: usize, c: usize, addend: usize): void {
  let c0 = f32x4.splat(0), c1 = c0;
  const aEnd = a + aStride;
  while (a < aEnd) {
    const x = v128.load32_splat(a);
    c0 = multiplyAdd(x, v128.load(b), c0);
    c1 = multiplyAdd(x, v128.load(b, 16), c1);
    a += 4;
    b += bStride;
  }
  storeRow(c, c0, c1, addend);
}

@inline
function storeRow(c: usize, c0: v128, c1: v128, addend: usize): void {
  if (addend) {
    c0 = f32x4.add(c0, v128.load(addend));
    c1 = f32x4.add(c1, v128.load(addend, 16));
  }
  v128.store(c, c0);
  v128.store(c, c1, 16);
}

export function addTransposedMatmul(a: usize, b: usize, c: usize, m: i32, n: i32, k: i32): void {
  const aStride = bytes(k), bStride = bytes(n);
  for (let block = 0; block < m; block += ROW_BLOCK) {
    const rows = min(ROW_BLOCK, m - block);
    for (let row = 0; row < k; row += 4) {
      for (let column = 0; column < n; column += 8) {
        addOuterProducts(
          a + usize(block) * aStride + bytes(row),
          aStride,
          b + usize(block) * bStride + bytes(column),
          bStride,
          c + usize(row) * bStride + bytes(column),
          rows,
        );
      }
    }
  }
}

@inline
function addOuterProducts(a: usize, aStride: usize, b: usize, bStride: usize, c: usize, rows: i32): void {
  const d0 = c, d1 = d0 + bStride, d2 = d1 + bStride, d3 = d2 + bStride;
  let c00 = v128.load(d0), c01 = v128.load(d0, 16), c10 = v128.load(d1), c11 = v128.load(d1, 16);
  let c20 = v128.load(d2), c21 = v128.load(d2, 16), c30 = v128.load(d3), c31 = v128.load(d3, 16);
  for (let i = 0; i < rows; i++) {
    const b0 = v128.load(b), b1 = v128.load(b, 16);
    let x = v128.load32_splat(a);
    c00 = multiplyAdd(x, b0, c00);
    c01 = multiplyAdd(x, b1, c01);
    x = v128.load32_splat(a, 4);
    c10 = multiplyAdd(x, b0, c10);
    c11 = multiplyAdd(x, b1, c11);
    x = v128.load32_splat(a, 8);
    c20 = multiplyAdd(x, b0, c20);
    c21 = multiplyAdd(x, b1, c21);
    x = v128.load32_splat(a, 12);
    c30 = multiplyAdd(x, b0, c30);
    c31 = multiplyAdd(x, b1, c31);
    a += aStride;
    b += bStride;
  }
  v128.store(d0, c00);
  v128.store(d0, c01, 16);
  v128.store(d1, c10);
  v128.store(d1, c11, 16);
  v128.store(d2, c20);
  v128.store(d2, c21, 16);
  v128.store(d3, c30);
  v128.store(d3, c31, 16);
}

export function transpose(a: usize, b: usize, rows: i32, columns: i32): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) store<f32>(b + bytes(j * rows + i), load<f32>(a + bytes(i * columns + j)));
  }
}

// ---- rows

export function gatherRows(table: usize, index: usize, out: usize, rows: i32, width: i32): void {
  const stride = bytes(width);
  for (let i = 0; i < rows; i++) {
    memory.copy(out + usize(i) * stride, table + usize(load<i32>(index + bytes(i))) * stride, stride);
  }
}

export function scatterAddRows(table: usize, index: usize, x: usize, rows: i32, width: i32): void {
  const stride = bytes(width);
  for (let i = 0; i < rows; i++) {
    const to = table + usize(load<i32>(index + bytes(i))) * stride, from = x + usize(i) * stride;
    for (let c: usize = 0; c < stride; c += 16) {
      v128.store(to + c, f32x4.add(v128.load(to + c), v128.load(from + c)));
    }
  }
}

export function rmsNorm(x: usize, gain: usize, y: usize, inverseRms: usize, rows: i32, width: i32): void {
  const stride = bytes(width);
  for (let i = 0; i < rows; i++) {
    let sum = f32x4.splat(0);
    for (let c: usize = 0; c < stride; c += 16) {
      const u = v128.load(x + c);
      sum = multiplyAdd(u, u, sum);
    }
    const inverse: f32 = 1 / sqrt<f32>(sumLanes(sum) / f32(width) + 1e-5);
    store<f32>(inverseRms + bytes(i), inverse);
    const scale = f32x4.splat(inverse);
    for (let c: usize = 0; c < stride; c += 16) {
      v128.store(y + c, f32x4.mul(f32x4.mul(v128.load(x + c), scale), v128.load(gain + c)));
    }
    x += stride;
    y += stride;
  }
}

export function rmsNormBackward(
  x: usize,
  gain: usize,
  inverseRms: usize,
  dy: usize,
  dx: usize,
  dGain: usize,
  rows: i32,
  width: i32,
): void {
  const stride = bytes(width);
  for (let i = 0; i < rows; i++) {
    const scale = f32x4.splat(load<f32>(inverseRms + bytes(i)));
    let sum = f32x4.splat(0);
    for (let c: usize = 0; c < stride; c += 16) {
      const normed = f32x4.mul(v128.load(x + c), scale), d = v128.load(dy + c);
      sum = multiplyAdd(f32x4.mul(d, v128.load(gain + c)), normed, sum);
      v128.store(dGain + c, multiplyAdd(d, normed, v128.load(dGain + c)));
    }
    const mean = f32x4.splat(sumLanes(sum) / f32(width));
    for (let c: usize = 0; c < stride; c += 16) {
      const normed = f32x4.mul(v128.load(x + c), scale), d = f32x4.mul(v128.load(dy + c), v128.load(gain + c));
      const change = f32x4.mul(scale, f32x4.sub(d, f32x4.mul(normed, mean)));
      v128.store(dx + c, f32x4.add(v128.load(dx + c), change));
    }
    x += stride;
    dy += stride;
    dx += stride;
  }
}

export function squaredRelu(x: usize, y: usize, size: i32): void {
  const zeros = f32x4.splat(0);
  for (let c: usize = 0; c < bytes(size); c += 16) {
    const u = f32x4.pmax(v128.load(x + c), zeros);
    v128.store(y + c, f32x4.mul(u, u));
  }
}

export function squaredReluBackward(x: usize, dy: usize, size: i32): void {
  const zeros = f32x4.splat(0);
  for (let c: usize = 0; c < bytes(size); c += 16) {
    const u = f32x4.pmax(v128.load(x + c), zeros);
    v128.store(dy + c, f32x4.mul(f32x4.add(u, u), v128.load(dy + c)));
  }
}

export function rotate(
  x: usize,
  stride: i32,
  positions: usize,
  cosine: usize,
  sine: usize,
  rows: i32,
  heads: i32,
  headWidth: i32,
  sign: f32,
): void {
  const half = bytes(headWidth) >> 1, direction = f32x4.splat(sign);
  for (let i = 0; i < rows; i++) {
    const table = usize(load<i32>(positions + bytes(i))) * half;
    for (let h = 0; h < heads; h++) {
      const head = x + usize(h) * (half << 1);
      for (let c: usize = 0; c < half; c += 16) {
        const x0 = v128.load(head + c), x1 = v128.load(head + half + c);
        const cos = v128.load(cosine + table + c), sin = f32x4.mul(direction, v128.load(sine + table + c));
        v128.store(head + c, f32x4.sub(f32x4.mul(x0, cos), f32x4.mul(x1, sin)));
        v128.store(head + half + c, f32x4.add(f32x4.mul(x1, cos), f32x4.mul(x0, sin)));
      }
    }
    x += bytes(stride);
  }
}

// ---- attention

/** Dot products of a query with four keys. */
@inline
function fourDots(query: usize, k0: usize, k1: usize, k2: usize, k3: usize, headBytes: usize): v128 {
  let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
  for (let c: usize = 0; c < headBytes; c += 64) {
    let q = v128.load(query + c);
    s0 = multiplyAdd(q, v128.load(k0 + c), s0);
    s1 = multiplyAdd(q, v128.load(k1 + c), s1);
    s2 = multiplyAdd(q, v128.load(k2 + c), s2);
    s3 = multiplyAdd(q, v128.load(k3 + c), s3);
    q = v128.load(query + c, 16);
    s0 = multiplyAdd(q, v128.load(k0 + c, 16), s0);
    s1 = multiplyAdd(q, v128.load(k1 + c, 16), s1);
    s2 = multiplyAdd(q, v128.load(k2 + c, 16), s2);
    s3 = multiplyAdd(q, v128.load(k3 + c, 16), s3);
    q = v128.load(query + c, 32);
    s0 = multiplyAdd(q, v128.load(k0 + c, 32), s0);
    s1 = multiplyAdd(q, v128.load(k1 + c, 32), s1);
    s2 = multiplyAdd(q, v128.load(k2 + c, 32), s2);
    s3 = multiplyAdd(q, v128.load(k3 + c, 32), s3);
    q = v128.load(query + c, 48);
    s0 = multiplyAdd(q, v128.load(k0 + c, 48), s0);
    s1 = multiplyAdd(q, v128.load(k1 + c, 48), s1);
    s2 = multiplyAdd(q, v128.load(k2 + c, 48), s2);
    s3 = multiplyAdd(q, v128.load(k3 + c, 48), s3);
  }
  const t0 = f32x4.add(v128.shuffle<f32>(s0, s1, 0, 4, 1, 5), v128.shuffle<f32>(s0, s1, 2, 6, 3, 7));
  const t1 = f32x4.add(v128.shuffle<f32>(s2, s3, 0, 4, 1, 5), v128.shuffle<f32>(s2, s3, 2, 6, 3, 7));
  return f32x4.add(v128.shuffle<f32>(t0, t1, 0, 1, 4, 5), v128.shuffle<f32>(t0, t1, 2, 3, 6, 7));
}

/** `to[j]` = query · key j for `count` keys; lanes behind them, up to a multiple of 4, repeat the last key's. */
@inline
function dots(query: usize, keys: usize, stride: usize, to: usize, count: i32, headBytes: usize): void {
  let j = 0;
  for (; j + 4 <= count; j += 4) {
    const k1 = keys + stride, k2 = k1 + stride, k3 = k2 + stride;
    v128.store(to + bytes(j), fourDots(query, keys, k1, k2, k3, headBytes));
    keys = k3 + stride;
  }
  const rest = count - j;
  if (rest === 0) return;
  // Memory behind the last key is not ours to read: it may hold NaN, and 0 · NaN is NaN.
  const k1 = keys + (rest > 1 ? stride : 0), k2 = k1 + (rest > 2 ? stride : 0);
  v128.store(to + bytes(j), fourDots(query, keys, k1, k2, k2, headBytes));
}

/** One query of one head against `count` keys and values; `p` receives its probabilities, zeros up to a multiple of 4. */
@inline
function attend(
  query: usize,
  keys: usize,
  values: usize,
  stride: usize,
  out: usize,
  p: usize,
  count: i32,
  headBytes: usize,
  scale: v128,
): void {
  dots(query, keys, stride, p, count, headBytes);
  for (let j = count; j & 3; j++) store<f32>(p + bytes(j), NONE);
  let largest = f32x4.splat(NONE);
  for (let j = 0; j < count; j += 4) largest = f32x4.pmax(largest, v128.load(p + bytes(j)));
  const shift = f32x4.splat(maxLanes(largest));
  let sum = f32x4.splat(0);
  for (let j = 0; j < count; j += 4) {
    const e = exp4(f32x4.mul(f32x4.sub(v128.load(p + bytes(j)), shift), scale));
    sum = f32x4.add(sum, e);
    v128.store(p + bytes(j), e);
  }
  const inverse = f32x4.splat(1 / sumLanes(sum));
  for (let j = 0; j < count; j += 4) v128.store(p + bytes(j), f32x4.mul(v128.load(p + bytes(j)), inverse));
  for (let j = count; j & 3; j++) store<f32>(p + bytes(j), 0);
  for (let c: usize = 0; c < headBytes; c += 64) {
    let o0 = f32x4.splat(0), o1 = o0, o2 = o0, o3 = o0, value = values + c;
    for (let j = 0; j < count; j++) {
      const x = v128.load32_splat(p + bytes(j));
      o0 = multiplyAdd(x, v128.load(value), o0);
      o1 = multiplyAdd(x, v128.load(value, 16), o1);
      o2 = multiplyAdd(x, v128.load(value, 32), o2);
      o3 = multiplyAdd(x, v128.load(value, 48), o3);
      value += stride;
    }
    v128.store(out + c, o0);
    v128.store(out + c, o1, 16);
    v128.store(out + c, o2, 32);
    v128.store(out + c, o3, 48);
  }
}

export function attention(qkv: usize, out: usize, probabilities: usize, length: i32, heads: i32, headWidth: i32): void {
  const headBytes = bytes(headWidth), width = usize(heads) * headBytes, stride = usize(3) * width;
  const scale = f32x4.splat(1 / sqrt<f32>(f32(headWidth))), pitch = bytes((length + 3) & ~3);
  for (let h = 0; h < heads; h++) {
    const head = qkv + usize(h) * headBytes;
    for (let i = 0; i < length; i++) {
      const to = out + usize(i) * width + usize(h) * headBytes;
      attend(head + usize(i) * stride, head + width, head + 2 * width, stride, to, probabilities, i + 1, headBytes, scale);
      probabilities += pitch;
    }
  }
}

export function cachedAttention(
  qkv: usize,
  out: usize,
  cache: usize,
  positions: usize,
  scratch: usize,
  layerOffset: usize,
  valueOffset: usize,
  rows: i32,
  heads: i32,
  headWidth: i32,
): void {
  const headBytes = bytes(headWidth), width = usize(heads) * headBytes;
  const scale = f32x4.splat(1 / sqrt<f32>(f32(headWidth)));
  for (let i = 0; i < rows; i++) {
    const to = usize(load<i32>(cache + bytes(i))) + layerOffset + usize(load<i32>(positions + bytes(i))) * width;
    const key = qkv + usize(i) * usize(3) * width + width;
    memory.copy(to, key, width);
    memory.copy(to + valueOffset, key + width, width);
  }
  for (let i = 0; i < rows; i++) {
    const keys = usize(load<i32>(cache + bytes(i))) + layerOffset, count = load<i32>(positions + bytes(i)) + 1;
    for (let h = 0; h < heads; h++) {
      const at = usize(h) * headBytes, head = keys + at;
      attend(qkv + at, head, head + valueOffset, width, out + at, scratch, count, headBytes, scale);
    }
    qkv += usize(3) * width;
    out += width;
  }
}

export function attentionBackward(
  qkv: usize,
  dOut: usize,
  probabilities: usize,
  dQkv: usize,
  scratch: usize,
  length: i32,
  heads: i32,
  headWidth: i32,
): void {
  const headBytes = bytes(headWidth), width = usize(heads) * headBytes, stride = usize(3) * width;
  const scale = f32x4.splat(1 / sqrt<f32>(f32(headWidth))), pitch = bytes((length + 3) & ~3);
  for (let h = 0; h < heads; h++) {
    const at = usize(h) * headBytes;
    for (let i = 0; i < length; i++) {
      const dTo = dOut + usize(i) * width + at;
      scoreGradient(dTo, qkv + at + 2 * width, stride, probabilities, scratch, i + 1, headBytes, scale);
      for (let c: usize = 0; c < headBytes; c += 64) {
        spreadGradient(qkv + at + c, dQkv + at + c, dTo + c, probabilities, scratch, i, width);
      }
      probabilities += pitch;
    }
  }
}

/** `ds` receives the derivative by the raw scores q·k of a query with output gradient `dOut`. */
@inline
function scoreGradient(
  dOut: usize,
  values: usize,
  stride: usize,
  p: usize,
  ds: usize,
  count: i32,
  headBytes: usize,
  scale: v128,
): void {
  dots(dOut, values, stride, ds, count, headBytes);
  let sum = f32x4.splat(0);
  for (let j = 0; j < count; j += 4) sum = multiplyAdd(v128.load(ds + bytes(j)), v128.load(p + bytes(j)), sum);
  const mean = f32x4.splat(sumLanes(sum));
  for (let j = 0; j < count; j += 4) {
    const centred = f32x4.sub(v128.load(ds + bytes(j)), mean);
    v128.store(ds + bytes(j), f32x4.mul(scale, f32x4.mul(v128.load(p + bytes(j)), centred)));
  }
}

/** Adds query i's share to the gradients of 16 numbers of its query and of all keys and values up to it. */
@inline
function spreadGradient(qkv: usize, dQkv: usize, dOut: usize, p: usize, ds: usize, i: i32, width: usize): void {
  const stride = usize(3) * width, query = qkv + usize(i) * stride;
  const q0 = v128.load(query), q1 = v128.load(query, 16), q2 = v128.load(query, 32), q3 = v128.load(query, 48);
  const g0 = v128.load(dOut), g1 = v128.load(dOut, 16), g2 = v128.load(dOut, 32), g3 = v128.load(dOut, 48);
  let key = qkv + width, dKey = dQkv + width, dValue = dKey + width;
  let x0 = f32x4.splat(0), x1 = x0, x2 = x0, x3 = x0;
  for (let j = 0; j <= i; j++) {
    const s = v128.load32_splat(ds + bytes(j)), w = v128.load32_splat(p + bytes(j));
    x0 = multiplyAdd(s, v128.load(key), x0);
    x1 = multiplyAdd(s, v128.load(key, 16), x1);
    x2 = multiplyAdd(s, v128.load(key, 32), x2);
    x3 = multiplyAdd(s, v128.load(key, 48), x3);
    v128.store(dKey, multiplyAdd(s, q0, v128.load(dKey)));
    v128.store(dKey, multiplyAdd(s, q1, v128.load(dKey, 16)), 16);
    v128.store(dKey, multiplyAdd(s, q2, v128.load(dKey, 32)), 32);
    v128.store(dKey, multiplyAdd(s, q3, v128.load(dKey, 48)), 48);
    v128.store(dValue, multiplyAdd(w, g0, v128.load(dValue)));
    v128.store(dValue, multiplyAdd(w, g1, v128.load(dValue, 16)), 16);
    v128.store(dValue, multiplyAdd(w, g2, v128.load(dValue, 32)), 32);
    v128.store(dValue, multiplyAdd(w, g3, v128.load(dValue, 48)), 48);
    key += stride;
    dKey += stride;
    dValue += stride;
  }
  const to = dQkv + usize(i) * stride;
  v128.store(to, x0);
  v128.store(to, x1, 16);
  v128.store(to, x2, 32);
  v128.store(to, x3, 48);
}

// ---- probabilities

// Four times each, in memory: compiled code makes a constant vector anew wherever it is used, which costs more than a load.
const EXP: usize = memory.data<f32>([
  88, 88, 88, 88,
  -87, -87, -87, -87,
  1.44269504088896341, 1.44269504088896341, 1.44269504088896341, 1.44269504088896341,
  12582912, 12582912, 12582912, 12582912, // 1.5 · 2²³: adding it leaves a whole number in the low bits
  -0.693359375, -0.693359375, -0.693359375, -0.693359375,
  2.12194440e-4, 2.12194440e-4, 2.12194440e-4, 2.12194440e-4,
  1.9875691500e-4, 1.9875691500e-4, 1.9875691500e-4, 1.9875691500e-4,
  1.3981999507e-3, 1.3981999507e-3, 1.3981999507e-3, 1.3981999507e-3,
  8.3334519073e-3, 8.3334519073e-3, 8.3334519073e-3, 8.3334519073e-3,
  4.1665795894e-2, 4.1665795894e-2, 4.1665795894e-2, 4.1665795894e-2,
  1.6666665459e-1, 1.6666665459e-1, 1.6666665459e-1, 1.6666665459e-1,
  0.5, 0.5, 0.5, 0.5,
  1, 1, 1, 1,
], 16);

/** e^x of four numbers, relative error about 1e-7 (S. Moshier's Cephes expf: reduction by ln 2, polynomial of degree 5). */
@inline
function exp4(x: v128): v128 {
  // pmin and pmax are one instruction each, min and max eight; with x first, NaN stays NaN.
  x = f32x4.pmax(f32x4.pmin(x, v128.load(EXP)), v128.load(EXP, 16));
  const rounded = f32x4.add(f32x4.mul(x, v128.load(EXP, 32)), v128.load(EXP, 48));
  const n = f32x4.sub(rounded, v128.load(EXP, 48));
  const r = multiplyAdd(n, v128.load(EXP, 80), multiplyAdd(n, v128.load(EXP, 64), x));
  let p = multiplyAdd(v128.load(EXP, 96), r, v128.load(EXP, 112));
  p = multiplyAdd(p, r, v128.load(EXP, 128));
  p = multiplyAdd(p, r, v128.load(EXP, 144));
  p = multiplyAdd(p, r, v128.load(EXP, 160));
  p = multiplyAdd(p, r, v128.load(EXP, 176));
  const one = v128.load(EXP, 192);
  p = f32x4.add(multiplyAdd(f32x4.mul(r, r), p, r), one);
  // The bits of 1 are the exponent's bias.
  return f32x4.mul(p, i32x4.add(i32x4.shl(rounded, 23), one));
}

export function logSoftmax(logits: usize, entropy: usize, rows: i32, columns: i32, scale: f32): void {
  const stride = bytes(columns), factor = f32x4.splat(scale);
  for (let i = 0; i < rows; i++) {
    let largest = f32x4.splat(-f32.MAX_VALUE);
    for (let c: usize = 0; c < stride; c += 16) {
      const z = f32x4.mul(v128.load(logits + c), factor);
      v128.store(logits + c, z);
      largest = f32x4.pmax(largest, z);
    }
    const shift = f32x4.splat(maxLanes(largest));
    let sum = f32x4.splat(0), weighted = sum;
    for (let c: usize = 0; c < stride; c += 16) {
      const z = f32x4.sub(v128.load(logits + c), shift), e = exp4(z);
      sum = f32x4.add(sum, e);
      weighted = multiplyAdd(e, z, weighted);
      v128.store(logits + c, z);
    }
    const total = sumLanes(sum), logTotal = f32(Math.log(total)), subtrahend = f32x4.splat(logTotal);
    for (let c: usize = 0; c < stride; c += 16) v128.store(logits + c, f32x4.sub(v128.load(logits + c), subtrahend));
    store<f32>(entropy + bytes(i), logTotal - sumLanes(weighted) / total);
    logits += stride;
  }
}

export function exponential(x: usize, y: usize, size: i32): void {
  for (let c: usize = 0; c < bytes(size); c += 16) v128.store(y + c, exp4(v128.load(x + c)));
}

export function targetBackward(logprobs: usize, targets: usize, dTarget: usize, rows: i32, columns: i32): void {
  const stride = bytes(columns);
  for (let i = 0; i < rows; i++) {
    const d = load<f32>(dTarget + bytes(i)), factor = f32x4.splat(-d);
    for (let c: usize = 0; c < stride; c += 16) v128.store(logprobs + c, f32x4.mul(exp4(v128.load(logprobs + c)), factor));
    const target = logprobs + bytes(load<i32>(targets + bytes(i)));
    store<f32>(target, load<f32>(target) + d);
    logprobs += stride;
  }
}

export function divergence(student: usize, teacher: usize, result: usize, rows: i32, columns: i32): void {
  const stride = bytes(columns);
  for (let i = 0; i < rows; i++) {
    let sum = f32x4.splat(0);
    for (let c: usize = 0; c < stride; c += 16) {
      const t = v128.load(teacher + c);
      sum = multiplyAdd(exp4(t), f32x4.sub(t, v128.load(student + c)), sum);
    }
    store<f32>(result + bytes(i), sumLanes(sum));
    student += stride;
    teacher += stride;
  }
}

export function divergenceBackward(student: usize, teacher: usize, weight: usize, rows: i32, columns: i32): void {
  const stride = bytes(columns);
  for (let i = 0; i < rows; i++) {
    const factor = f32x4.splat(load<f32>(weight + bytes(i)));
    for (let c: usize = 0; c < stride; c += 16) {
      const difference = f32x4.sub(exp4(v128.load(student + c)), exp4(v128.load(teacher + c)));
      v128.store(student + c, f32x4.mul(factor, difference));
    }
    student += stride;
    teacher += stride;
  }
}

// ---- vectors

export function zero(x: usize, size: i32): void {
  memory.fill(x, 0, bytes(size));
}

export function addScaled(x: usize, y: usize, size: i32, factor: f32): void {
  const scale = f32x4.splat(factor);
  for (let c: usize = 0; c < bytes(size); c += 16) {
    v128.store(y + c, multiplyAdd(scale, v128.load(x + c), v128.load(y + c)));
  }
}

export function sumOfSquares(x: usize, size: i32): f64 {
  let low = f64x2.splat(0), high = low;
  for (let c: usize = 0; c < bytes(size); c += 16) {
    const u = v128.load(x + c);
    const a = f64x2.promote_low_f32x4(u), b = f64x2.promote_low_f32x4(v128.shuffle<f32>(u, u, 2, 3, 2, 3));
    low = f64x2.add(low, f64x2.mul(a, a));
    high = f64x2.add(high, f64x2.mul(b, b));
  }
  const sum = f64x2.add(low, high);
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

export function adamW(
  weights: usize,
  gradient: usize,
  mean: usize,
  variance: usize,
  size: i32,
  stepSize: f32,
  beta1: f32,
  beta2: f32,
  epsilon: f32,
  inverseCorrection: f32,
  decay: f32,
  gradientScale: f32,
): void {
  const b1 = f32x4.splat(beta1), b2 = f32x4.splat(beta2), d1 = f32x4.splat(1 - beta1), d2 = f32x4.splat(1 - beta2);
  const step = f32x4.splat(stepSize), correction = f32x4.splat(inverseCorrection), floor = f32x4.splat(epsilon);
  const keep = f32x4.splat(decay), scale = f32x4.splat(gradientScale);
  for (let c: usize = 0; c < bytes(size); c += 16) {
    const g = f32x4.mul(scale, v128.load(gradient + c));
    const m = multiplyAdd(b1, v128.load(mean + c), f32x4.mul(d1, g));
    const v = multiplyAdd(b2, v128.load(variance + c), f32x4.mul(d2, f32x4.mul(g, g)));
    v128.store(mean + c, m);
    v128.store(variance + c, v);
    const change = f32x4.div(f32x4.mul(step, m), f32x4.add(f32x4.sqrt(f32x4.mul(v, correction)), floor));
    v128.store(weights + c, f32x4.sub(f32x4.mul(keep, v128.load(weights + c)), change));
  }
}
