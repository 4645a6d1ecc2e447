/**
 * Sample quantile with linear interpolation between order statistics (numpy's default, Hyndman and Fan's type 7).
 *
 * @param values at least one
 * @param q in [0, 1]
 * @throws {RangeError} if there are no values or q is out of range
 */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new RangeError("Cannot take a quantile of no values");
  if (!(q >= 0 && q <= 1)) throw new RangeError(`Cannot take the quantile at ${q}: need a share in [0, 1]`);
  return sortedQuantile(Float64Array.from(values).sort(), q);
}

/** {@link quantile} of values that are sorted already. */
export function sortedQuantile(sorted: ArrayLike<number>, q: number): number {
  const position = q * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
}
