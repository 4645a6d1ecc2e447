import { deviance, stirlingError } from "./log_gamma.ts";

const TINY = 1e-300;

/**
 * Regularised lower incomplete gamma function P(a, x), the CDF of a gamma distribution of shape a.
 *
 * @throws {RangeError} unless a > 0 and x ≥ 0
 */
export function lowerGamma(a: number, x: number): number {
  requireDomain(a, x);
  if (x === 0) return 0;
  if (x === Infinity) return 1;
  return x < a + 1 ? density(a, x) * lowerSeries(a, x) : 1 - density(a, x) * upperFraction(a, x);
}

/**
 * Regularised upper incomplete gamma function Q(a, x) = 1 − P(a, x), without cancellation where it is small.
 *
 * @throws {RangeError} unless a > 0 and x ≥ 0
 */
export function upperGamma(a: number, x: number): number {
  requireDomain(a, x);
  if (x === 0) return 1;
  if (x === Infinity) return 0;
  return x < a + 1 ? 1 - density(a, x) * lowerSeries(a, x) : density(a, x) * upperFraction(a, x);
}

function requireDomain(a: number, x: number): void {
  if (!(a > 0 && x >= 0)) {
    throw new RangeError(`Cannot compute the incomplete gamma function at a = ${a}, x = ${x}: need a > 0 and x ≥ 0`);
  }
}

/** x^a·e^(−x) / Γ(a). */
function density(a: number, x: number): number {
  return Math.sqrt(a / (2 * Math.PI)) * Math.exp(-deviance(a, x) - stirlingError(a));
}

/** Σ x^k / (a(a+1)…(a+k)). */
function lowerSeries(a: number, x: number): number {
  let term = 1 / a;
  let total = term;
  for (let k = 1;; k++) {
    term *= x / (a + k);
    const next = total + term;
    if (next === total) return total;
    total = next;
  }
}

/** 1/(x+1−a− 1(1−a)/(x+3−a− …)), by Lentz's method. */
function upperFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = 1 / TINY;
  let d = 1 / b;
  let value = d;
  for (let k = 1; k < 100_000; k++) {
    const numerator = -k * (k - a);
    b += 2;
    d = 1 / nonZero(numerator * d + b);
    c = nonZero(b + numerator / c);
    value *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return value;
}

function nonZero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}
