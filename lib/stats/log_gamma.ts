const HALF_LOG_TAU = 0.9189385332046728;

/** Coefficients of Stirling's series in 1/z, 1/z³, …: B₂ₖ / (2k(2k−1)). */
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400];

/** From here on the series above reaches double precision. */
const SERIES_FROM = 10;

/**
 * log Γ(x) for x > 0.
 *
 * @throws {RangeError} if x is not positive
 */
export function logGamma(x: number): number {
  if (!(x > 0)) throw new RangeError(`Cannot compute log Γ(${x}): the argument must be above 0`);
  if (x === 1 || x === 2) return 0;
  let product = 1;
  let shifted = x;
  for (; shifted < SERIES_FROM; shifted++) product *= shifted;
  return (shifted - 0.5) * Math.log(shifted) - shifted + HALF_LOG_TAU + series(shifted) - Math.log(product);
}

/**
 * log Γ(x) less Stirling's leading terms (x − ½)·log x − x + ½·log 2π, for x > 0.
 *
 * Densities written with it and {@link deviance} lose no digits at large parameters, where differences of log Γ do
 * (C. Loader, "Fast and accurate computation of binomial probabilities", 2000).
 */
export function stirlingError(x: number): number {
  if (x >= SERIES_FROM) return series(x);
  return logGamma(x) - ((x - 0.5) * Math.log(x) - x + HALF_LOG_TAU);
}

/**
 * Loader's deviance part x·log(x/mean) + mean − x, at least 0, for x ≥ 0 and mean > 0; without cancellation where x is
 * near the mean.
 */
export function deviance(x: number, mean: number): number {
  if (x === 0) return mean;
  const difference = x - mean;
  if (Math.abs(difference) > 0.1 * (x + mean)) return x * Math.log(x / mean) + mean - x;
  const ratio = difference / (x + mean);
  let term = 2 * x * ratio;
  let total = difference * ratio;
  for (let k = 3;; k += 2) {
    term *= ratio * ratio;
    const next = total + term / k;
    if (next === total) return total;
    total = next;
  }
}

function series(z: number): number {
  const inverseSquare = 1 / (z * z);
  return STIRLING.reduceRight((total, coefficient) => total * inverseSquare + coefficient, 0) / z;
}
