/**
 * A root of a continuous function between two points of opposite sign, to the last bit (bisection).
 *
 * @throws {RangeError} if the signs are not opposite
 */
export function findRoot(f: (x: number) => number, from: number, to: number): number {
  const start = f(from);
  const end = f(to);
  if (start === 0) return from;
  if (end === 0) return to;
  if (!(start * end < 0)) {
    throw new RangeError(`Cannot find a root between ${from} and ${to}: the function does not change sign`);
  }
  let low = from;
  let high = to;
  for (let iteration = 0; iteration < 200; iteration++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (f(middle) * start > 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
