/** Arithmetic mean; NaN of nothing. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Unbiased variance (n − 1 in the denominator); NaN for fewer than two values. */
export function sampleVariance(values: readonly number[]): number {
  if (values.length < 2) return NaN;
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1);
}
