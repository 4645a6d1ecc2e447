import { z } from "zod";
import type { GoldenCase } from "./golden.ts";

const caseFile = z.object({
  cases: z.array(z.object({
    id: z.string(),
    fn: z.string(),
    args: z.record(z.string(), z.unknown()),
    expected: z.unknown(),
    flaky: z.boolean().optional(),
    contested: z.boolean().optional(),
  })),
});

/**
 * Rows of a golden file of the form `{"cases": [{id, fn, args, expected}]}`.
 *
 * @throws {SyntaxError} if the text is not such a file
 */
export function readCases(text: string): GoldenCase[] {
  const parsed = parseWith(caseFile, text, "the golden file");
  return parsed.cases.map(({ flaky, contested, ...row }) => ({
    ...row,
    expected: row.expected,
    ...leftOut(flaky, contested),
  }));
}

/**
 * Rows of a JSON Lines file, checked by a schema.
 *
 * @throws {SyntaxError} if a line is not such a row, or there are none
 */
export function readRows<Row>(schema: z.ZodType<Row>, text: string): Row[] {
  const lines = text.split("\n").map((line, index) => ({ line, number: index + 1 })).filter(({ line }) =>
    line.trim() !== ""
  );
  if (lines.length === 0) throw new SyntaxError("Cannot read the golden file: it is empty");
  return lines.map(({ line, number }) => parseWith(schema, line, `line ${number} of the golden file`));
}

/** The mark of a row that is not asserted. */
export function leftOut(flaky?: boolean, contested?: boolean): Pick<GoldenCase, "leftOut"> {
  if (flaky) return { leftOut: "flaky" };
  return contested ? { leftOut: "contested" } : {};
}

function parseWith<T>(schema: z.ZodType<T>, text: string, what: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SyntaxError(`Cannot read ${what}: it is not JSON (${(error as Error).message})`);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new SyntaxError(`Cannot read ${what}: ${issue.path.join(".") || "it"}: ${issue.message}`);
}
