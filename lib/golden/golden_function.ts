import { attempt, firstDifference } from "./difference.ts";
import type { Tolerances } from "./difference.ts";
import type { Difference, GoldenCase } from "./golden.ts";

/** Our answer to a golden function's arguments, in the golden file's shape. */
export type GoldenFunction = (args: Readonly<Record<string, unknown>>) => unknown;

/** Returned by a {@link GoldenFunction} for arguments that coevo has no counterpart for. */
export const UNSUPPORTED = Symbol("unsupported");

/** A golden function with the types of its arguments, which the golden file's generator guarantees. */
export function golden<Args>(answer: (args: Args) => unknown): GoldenFunction {
  return (args) => answer(args as Args);
}

/**
 * Compares a row with our function of its name. Any error of ours that is not a RangeError is a difference of its own,
 * so that one bad row does not hide the others.
 */
export function compareFunction(
  functions: Readonly<Record<string, GoldenFunction>>,
  row: GoldenCase,
  tolerance: Tolerances,
): Difference | null | "unsupported" {
  if (!Object.hasOwn(functions, row.fn)) return "unsupported";
  let ours: unknown;
  try {
    ours = attempt(() => functions[row.fn](row.args));
  } catch (error) {
    return { what: "", expected: row.expected, ours: String(error) };
  }
  return ours === UNSUPPORTED ? "unsupported" : firstDifference(row.expected, ours, tolerance);
}
