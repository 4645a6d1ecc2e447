import type { Difference } from "./golden.ts";

/** How far two numbers may lie apart: |ours − expected| ≤ absolute + relative·|expected|. */
export interface Tolerance {
  relative: number;
  absolute: number;
}

/** One tolerance for a whole answer, or one for each path inside it. */
export type Tolerances = Tolerance | ((what: string) => Tolerance);

/** Stands for a RangeError of ours inside an answer. */
export const OUT_OF_RANGE = Symbol("RangeError");

/** The value, or {@link OUT_OF_RANGE} if computing it throws a RangeError; other errors are let through. */
export function attempt<T>(compute: () => T): T | typeof OUT_OF_RANGE {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RangeError) return OUT_OF_RANGE;
    throw error;
  }
}

/**
 * Where our answer first departs from a golden one, or null.
 *
 * Golden files write non-finite numbers as `"NaN"`, `"Infinity"` and `"-Infinity"`, and an exception as `{raises}`. A
 * RangeError of ours agrees with an exception, with `"ValueError"` in place of a result, and with a result that holds a
 * NaN; so does a null of ours with NaN. Parts of an expected object that ours lacks are differences, parts that only
 * ours has are not.
 */
export function firstDifference(expected: unknown, ours: unknown, tolerance: Tolerances, what = ""): Difference | null {
  const difference = { what, expected, ours: typeof ours === "symbol" ? "RangeError" : ours };
  if (ours === OUT_OF_RANGE) return isUndefinedResult(expected) ? null : difference;
  if (Array.isArray(expected)) {
    if (!isArrayLike(ours) || ours.length !== expected.length) return difference;
    return firstOf(
      expected.map((item, index) => () => firstDifference(item, ours[index], tolerance, `${what}[${index}]`)),
    );
  }
  if (typeof expected === "object" && expected !== null) {
    if (typeof ours !== "object" || ours === null) return difference;
    const parts = ours as Readonly<Record<string, unknown>>;
    return firstOf(
      Object.entries(expected).map(([key, part]) => () =>
        firstDifference(part, parts[key], tolerance, what === "" ? key : `${what}.${key}`)
      ),
    );
  }
  return agrees(expected, ours, typeof tolerance === "function" ? tolerance(what) : tolerance) ? null : difference;
}

function firstOf(comparisons: readonly (() => Difference | null)[]): Difference | null {
  for (const compare of comparisons) {
    const difference = compare();
    if (difference !== null) return difference;
  }
  return null;
}

function agrees(expected: unknown, ours: unknown, { relative, absolute }: Tolerance): boolean {
  if (expected === "NaN" && ours === null) return true;
  if (typeof ours !== "number") return expected === ours;
  const wanted = nonFinite(expected) ?? expected;
  if (typeof wanted !== "number") return false;
  // The tolerance of an infinite value would be infinite.
  if (!Number.isFinite(wanted)) return Object.is(wanted, ours);
  return Math.abs(ours - wanted) <= absolute + relative * Math.abs(wanted);
}

function nonFinite(value: unknown): number | undefined {
  return value === "NaN" || value === "Infinity" || value === "-Infinity" ? Number(value) : undefined;
}

function isUndefinedResult(expected: unknown): boolean {
  if (expected === "NaN" || expected === "ValueError") return true;
  if (Array.isArray(expected)) return expected.some(isUndefinedResult);
  if (typeof expected !== "object" || expected === null) return false;
  return "raises" in expected || Object.values(expected).some(isUndefinedResult);
}

function isArrayLike(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || value instanceof Float64Array;
}
