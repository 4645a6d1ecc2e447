/** A point of a learning curve. */
export interface CurvePoint {
  /** Rollouts, or another measure of effort. */
  x: number;
  /** The score there. */
  y: number;
}

/**
 * Area under a learning curve by the trapezoid rule, divided by its range of x: the average height, in the unit of y.
 *
 * @param curve points in ascending order of x, at least two
 * @throws {RangeError} if there are fewer than two points, or x does not ascend
 */
export function areaUnderCurve(curve: readonly CurvePoint[]): number {
  if (curve.length < 2) {
    throw new RangeError(`Cannot take the area under a curve of ${curve.length} points: need at least 2`);
  }
  let area = 0;
  for (let index = 1; index < curve.length; index++) {
    const width = curve[index].x - curve[index - 1].x;
    if (!(width > 0)) {
      throw new RangeError(
        `Cannot take the area under a curve that goes from x = ${curve[index - 1].x} to ${curve[index].x}`,
      );
    }
    area += width * (curve[index].y + curve[index - 1].y) / 2;
  }
  return area / (curve[curve.length - 1].x - curve[0].x);
}
