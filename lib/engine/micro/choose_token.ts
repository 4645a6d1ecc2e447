/**
 * Index of the largest of `count` values from `start`, the lowest on ties.
 *
 * @returns relative to `start`
 */
export function largestIndex(values: ArrayLike<number>, start: number, count: number): number {
  let best = 0;
  for (let i = 1; i < count; i++) if (values[start + i] > values[start + best]) best = i;
  return best;
}

/**
 * Index that `uniform` · `mass` falls on in the cumulated probabilities (inverse distribution function).
 *
 * Float32 probabilities may sum to a little less than `mass`; a draw that falls behind their end gives the most
 * probable index, never an improbable last one.
 *
 * @param uniform in [0, 1)
 * @param mass what the probabilities sum to
 * @returns relative to `start`
 */
export function drawIndex(
  probabilities: ArrayLike<number>,
  start: number,
  count: number,
  uniform: number,
  mass = 1,
): number {
  const threshold = uniform * mass;
  let cumulated = 0;
  for (let i = 0; i < count; i++) {
    cumulated += probabilities[start + i];
    if (cumulated > threshold) return i;
  }
  return largestIndex(probabilities, start, count);
}

/**
 * Sets all probabilities to 0 but those of the nucleus: the smallest set of the most probable ones, lower index first
 * on ties, that reaches `topP` (Holtzman et al. 2020).
 *
 * @returns the nucleus's mass
 */
export function keepNucleus(probabilities: Float32Array, start: number, count: number, topP: number): number {
  const row = probabilities.subarray(start, start + count);
  const order = Array.from(row.keys()).sort((i, j) => row[j] - row[i] || i - j);
  let mass = 0;
  let kept = 0;
  while (kept < count && mass < topP) mass += row[order[kept++]];
  for (const i of order.slice(kept)) row[i] = 0;
  return mass;
}
