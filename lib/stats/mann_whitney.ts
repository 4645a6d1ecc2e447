import { normalSf } from "./normal_distribution.ts";

/** Direction of a test: is the first sample larger (`greater`), smaller (`less`), or either? */
export type Alternative = "two-sided" | "less" | "greater";

/** A Mann–Whitney test. */
export interface MannWhitney {
  /** U of the first sample: pairs in which it is larger, ties counting ½. */
  u: number;
  p: number;
}

/**
 * Mann–Whitney U with its exact null distribution, for samples without ties (ties are counted ½ in U and otherwise
 * ignored, as in scipy). Two-sided p cannot go below 2/C(n+m, n): 0.1 for 3 against 3.
 *
 * @throws {RangeError} if a sample is empty
 */
export function mannWhitneyExact(
  first: readonly number[],
  second: readonly number[],
  alternative: Alternative = "two-sided",
): MannWhitney {
  const u = uStatistic(first, second);
  const pairs = first.length * second.length;
  const counts = uDistribution(first.length, second.length);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const tail = (from: number) => counts.slice(Math.floor(from)).reduce((sum, count) => sum + count, 0) / total;
  if (alternative === "two-sided") return { u, p: Math.min(1, 2 * tail(Math.max(u, pairs - u))) };
  return { u, p: tail(alternative === "greater" ? u : pairs - u) };
}

/**
 * Mann–Whitney U with the normal approximation, corrected for ties and continuity.
 *
 * @throws {RangeError} if a sample is empty
 */
export function mannWhitneyAsymptotic(
  first: readonly number[],
  second: readonly number[],
  alternative: Alternative = "two-sided",
): MannWhitney {
  const u = uStatistic(first, second);
  const pairs = first.length * second.length;
  const n = first.length + second.length;
  const ties = tieSizes([...first, ...second]).reduce((sum, size) => sum + (size ** 3 - size), 0);
  const deviation = Math.sqrt(pairs / 12 * (n + 1 - ties / (n * (n - 1))));
  const tail = (statistic: number) => normalSf((statistic - pairs / 2 - 0.5) / deviation);
  if (alternative === "two-sided") return { u, p: Math.min(1, 2 * tail(Math.max(u, pairs - u))) };
  return { u, p: tail(alternative === "greater" ? u : pairs - u) };
}

function uStatistic(first: readonly number[], second: readonly number[]): number {
  if (first.length === 0 || second.length === 0) throw new RangeError("Cannot compare ranks with an empty sample");
  let u = 0;
  for (const a of first) for (const b of second) u += a > b ? 1 : a === b ? 0.5 : 0;
  return u;
}

/** How many of the C(n+m, n) orderings have each U: coefficients of the Gaussian binomial ∏ (1 − q^(m+i)) / (1 − q^i). */
function uDistribution(n: number, m: number): number[] {
  const counts = new Array<number>(n * m + 1).fill(0);
  counts[0] = 1;
  for (let i = 1; i <= n; i++) {
    for (let u = counts.length - 1; u >= m + i; u--) counts[u] -= counts[u - m - i];
    for (let u = i; u < counts.length; u++) counts[u] += counts[u - i];
  }
  return counts;
}

function tieSizes(values: readonly number[]): number[] {
  const sizes = new Map<number, number>();
  for (const value of values) sizes.set(value, (sizes.get(value) ?? 0) + 1);
  return [...sizes.values()];
}
