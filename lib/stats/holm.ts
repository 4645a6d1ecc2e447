/**
 * Holm's adjusted p-values, in the order given: below α exactly where Holm's step-down procedure rejects, at any
 * dependence between the tests.
 *
 * @throws {RangeError} if a p-value is not in [0, 1]
 */
export function holm(pValues: readonly number[]): number[] {
  return stepDown(pValues, (p, remaining) => p * remaining);
}

/**
 * Holm–Šidák adjusted p-values: slightly smaller than {@link holm}'s, for independent tests.
 *
 * @throws {RangeError} if a p-value is not in [0, 1]
 */
export function holmSidak(pValues: readonly number[]): number[] {
  return stepDown(pValues, (p, remaining) => -Math.expm1(remaining * Math.log1p(-p)));
}

/** The positions of the p-values from the smallest to the largest. @throws {RangeError} if one is not in [0, 1] */
export function ascendingOrder(pValues: readonly number[]): number[] {
  const invalid = pValues.find((p) => !(p >= 0 && p <= 1));
  if (invalid !== undefined) throw new RangeError(`Cannot adjust the p-value ${invalid}: need a probability in [0, 1]`);
  return pValues.map((_, index) => index).sort((a, b) => pValues[a] - pValues[b]);
}

function stepDown(pValues: readonly number[], adjust: (p: number, remaining: number) => number): number[] {
  const adjusted = new Array<number>(pValues.length).fill(0);
  let largest = 0;
  for (const [rank, index] of ascendingOrder(pValues).entries()) {
    largest = Math.max(largest, Math.min(1, adjust(pValues[index], pValues.length - rank)));
    adjusted[index] = largest;
  }
  return adjusted;
}
