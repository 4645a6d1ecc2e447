import { createHash } from "node:crypto";

/** JSON with the keys of every object sorted, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value));
}

/** SHA-256 (hexadecimal) of {@link canonicalJson}. */
export function hashConfig(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([key, each]) => [key, sortKeys(each)]),
  );
}
