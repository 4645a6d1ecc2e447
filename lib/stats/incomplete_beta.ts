import { deviance, stirlingError } from "./log_gamma.ts";

const TINY = 1e-300;

/**
 * Regularised incomplete beta function I_x(a, b), the CDF of a beta distribution.
 *
 * @param a above 0
 * @param b above 0
 * @param x in [0, 1]
 * @param y 1 − x; to be given where it is known better than by subtraction
 * @throws {RangeError} unless a and b are above 0 and x in [0, 1]
 */
export function incompleteBeta(a: number, b: number, x: number, y = 1 - x): number {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) {
    throw new RangeError(
      `Cannot compute the incomplete beta function at a = ${a}, b = ${b}, x = ${x}: need a, b > 0 and x in [0, 1]`,
    );
  }
  if (x === 0 || y === 0) return x === 0 ? 0 : 1;
  // The continued fraction converges fast on this side of the mean only.
  if (x < (a + 1) / (a + b + 2)) return betaKernel(a, b, x, y) / a * fraction(a, b, x);
  return 1 - betaKernel(a, b, x, y) / b * fraction(b, a, y);
}

/** x^a·y^b / B(a, b) with y = 1 − x: the beta density times x·y. For a, b > 0 and x, y in (0, 1). */
export function betaKernel(a: number, b: number, x: number, y: number): number {
  const n = a + b;
  const exponent = stirlingError(n) - stirlingError(a) - stirlingError(b) - deviance(a, n * x) - deviance(b, n * y);
  return Math.sqrt(a / n * b / (2 * Math.PI)) * Math.exp(exponent);
}

/** DLMF 8.17.22, by Lentz's method. */
function fraction(a: number, b: number, x: number): number {
  let c = 1;
  let d = 1 / nonZero(1 - (a + b) * x / (a + 1));
  let value = d;
  const advance = (numerator: number) => {
    d = 1 / nonZero(1 + numerator * d);
    c = nonZero(1 + numerator / c);
    value *= c * d;
    return Math.abs(c * d - 1) < 1e-16;
  };
  for (let m = 1; m < 100_000; m++) {
    advance(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    if (advance(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)))) break;
  }
  return value;
}

function nonZero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}
