import { ascendingOrder } from "./holm.ts";

/** Bonferroni's adjusted p-values, in the order given. @throws {RangeError} if a p-value is not in [0, 1] */
export function bonferroni(pValues: readonly number[]): number[] {
  ascendingOrder(pValues);
  return pValues.map((p) => Math.min(1, p * pValues.length));
}

/**
 * Benjamini–Hochberg adjusted p-values, in the order given: they bound the false discovery rate, not the family-wise
 * error.
 *
 * @throws {RangeError} if a p-value is not in [0, 1]
 */
export function benjaminiHochberg(pValues: readonly number[]): number[] {
  const order = ascendingOrder(pValues);
  const adjusted = new Array<number>(pValues.length).fill(0);
  let smallest = 1;
  for (let rank = order.length; rank >= 1; rank--) {
    const index = order[rank - 1];
    smallest = Math.min(smallest, pValues[index] / (rank / pValues.length));
    adjusted[index] = smallest;
  }
  return adjusted;
}

/**
 * Hommel's adjusted p-values, in the order given: more powerful than Holm's, valid for independent or positively
 * dependent tests (Hommel 1988, by Wright's algorithm).
 *
 * @throws {RangeError} if a p-value is not in [0, 1]
 */
export function hommel(pValues: readonly number[]): number[] {
  const order = ascendingOrder(pValues);
  const sorted = order.map((index) => pValues[index]);
  const adjusted = [...sorted];
  for (let size = sorted.length; size > 1; size--) {
    const outside = sorted.length - size;
    const bound = Math.min(...sorted.slice(outside).map((p, index) => size * p / (index + 1)));
    for (const [index, p] of sorted.entries()) {
      adjusted[index] = Math.max(adjusted[index], index < outside ? Math.min(size * p, bound) : bound);
    }
  }
  const result = new Array<number>(pValues.length).fill(0);
  for (const [rank, index] of order.entries()) result[index] = adjusted[rank];
  return result;
}
