import type { z } from "zod";

/** One fault of a request body, in the form of FastAPI's 422 replies. */
export interface ValidationDetail {
  /** Path to the faulty value, `body` first. */
  loc: (string | number)[];
  /** A sentence for people. */
  msg: string;
  /** Pydantic's name of the fault: `missing`, `string_type`, … */
  type: string;
}

/** The detail of a body that is not JSON. */
export function jsonDetail(error: SyntaxError): ValidationDetail {
  return { loc: ["body"], msg: `JSON decode error: ${error.message}`, type: "json_invalid" };
}

/** The faults that zod found in `body`, with Pydantic's types and sentences where it has one. */
export function validationDetails(error: z.ZodError, body: unknown): ValidationDetail[] {
  return error.issues.map((issue) => {
    const path = issue.path.filter((part) => typeof part !== "symbol");
    const loc = ["body", ...path];
    if (path.length > 0 && valueAt(body, path) === undefined) return { loc, msg: "Field required", type: "missing" };
    if (issue.code === "invalid_type") {
      return { loc, ...(PYDANTIC_TYPES[issue.expected] ?? { msg: issue.message, type: "value_error" }) };
    }
    if (issue.code === "too_small") {
      return { loc, msg: `Input should be greater than or equal to ${issue.minimum}`, type: "greater_than_equal" };
    }
    if (issue.code === "too_big") {
      return { loc, msg: `Input should be less than or equal to ${issue.maximum}`, type: "less_than_equal" };
    }
    return { loc, msg: issue.message, type: "value_error" };
  });
}

const PYDANTIC_TYPES: Record<string, Omit<ValidationDetail, "loc">> = {
  array: { msg: "Input should be a valid list", type: "list_type" },
  string: { msg: "Input should be a valid string", type: "string_type" },
  int: { msg: "Input should be a valid integer", type: "int_type" },
  number: { msg: "Input should be a valid integer", type: "int_type" },
  boolean: { msg: "Input should be a valid boolean", type: "bool_type" },
  object: { msg: "Input should be a valid dictionary or object to extract fields from", type: "model_attributes_type" },
};

function valueAt(body: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as Record<string | number, unknown> | null | undefined)?.[key],
    body,
  );
}
