import { betaKernel, incompleteBeta } from "./incomplete_beta.ts";

/** A number in [0, 1] with its complement, each to full precision. */
export interface UnitPoint {
  x: number;
  /** 1 − x. */
  y: number;
}

/** Beyond this log-odds e^u overflows. */
const MOST_LOG_ODDS = 708;

/** P(X ≤ x) for X ~ Beta(a, b); 0 below the support and 1 above it. @throws {RangeError} unless a, b > 0 */
export function betaCdf(x: number, a: number, b: number): number {
  return incompleteBeta(a, b, Math.max(0, Math.min(1, x)));
}

/**
 * The x with P(X ≤ x) = p for X ~ Beta(a, b).
 *
 * @throws {RangeError} unless p is in [0, 1] and a, b > 0
 */
export function betaQuantile(p: number, a: number, b: number): number {
  return betaQuantilePoint(p, 1 - p, a, b).x;
}

/**
 * {@link betaQuantile} with its complement, from a probability with its complement `q` = 1 − p.
 *
 * @throws {RangeError} unless p is in [0, 1] and a, b > 0
 */
export function betaQuantilePoint(p: number, q: number, a: number, b: number): UnitPoint {
  if (!(p >= 0 && p <= 1)) {
    throw new RangeError(`Cannot compute a beta quantile at p = ${p}: need a probability in [0, 1]`);
  }
  if (p <= q) return lowerTailPoint(p, a, b);
  const { x, y } = lowerTailPoint(q, b, a);
  return { x: y, y: x };
}

/**
 * Newton's method for log P(X ≤ x) = log p in the log-odds of x, where the function is concave and x and 1 − x keep
 * their digits; bisection where a step leaves the bracket.
 */
function lowerTailPoint(p: number, a: number, b: number): UnitPoint {
  let low = -MOST_LOG_ODDS;
  let high = MOST_LOG_ODDS;
  if (p === 0 || incompleteBeta(a, b, unitPoint(low).x) > p) return { x: 0, y: 1 };
  let logOdds = Math.max(low, Math.min(high, Math.log(a / b)));
  for (let iteration = 0; iteration < 500; iteration++) {
    const { x, y } = unitPoint(logOdds);
    const cdf = incompleteBeta(a, b, x, y);
    const excess = Math.log(cdf / p);
    if (excess === 0) break;
    if (excess > 0) high = logOdds;
    else low = logOdds;
    const newton = logOdds - excess * cdf / betaKernel(a, b, x, y);
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    const step = Math.abs(next - logOdds);
    logOdds = next;
    if (step <= 1e-16 * Math.abs(next)) break;
  }
  return unitPoint(logOdds);
}

function unitPoint(logOdds: number): UnitPoint {
  return { x: 1 / (1 + Math.exp(-logOdds)), y: 1 / (1 + Math.exp(logOdds)) };
}
