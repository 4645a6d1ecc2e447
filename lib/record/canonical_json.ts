import { createHash } from "node:crypto";

/**
 * JSON with sorted keys and no white space: equal values give equal text (RFC 8785, JSON Canonicalization Scheme).
 * A property that is undefined is left out, as `JSON.stringify` does.
 *
 * @throws {TypeError} on anything that JSON cannot hold exactly (NaN, a Map, a bigint, …), with its place
 */
export function canonicalJson(value: unknown): string {
  return write(value, "", (keys) => keys.sort());
}

/**
 * JSON that reads back as an equal value, keys in their own order: what would be lost silently is an error.
 *
 * @throws {TypeError} as {@link canonicalJson}
 */
export function exactJson(value: unknown): string {
  return write(value, "", (keys) => keys);
}

function write(value: unknown, place: string, inOrder: (keys: string[]) => string[]): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) {
    // Array.from, because map would skip the holes of a sparse array.
    return `[${Array.from(value, (item, index) => write(item, `${place}[${index}]`, inOrder)).join(",")}]`;
  }
  if (isPlainObject(value)) {
    const members = inOrder(Object.keys(value)).filter((key) => value[key] !== undefined).map((key) =>
      `${JSON.stringify(key)}:${write(value[key], `${place}.${key}`, inOrder)}`
    );
    return `{${members.join(",")}}`;
  }
  throw new TypeError(`Cannot write ${place === "" ? "a value" : place} as JSON: ${describe(value)} has no exact form`);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describe(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "object" ? value?.constructor?.name ?? "object" : typeof value;
}

/**
 * SHA-256, in hexadecimal, of the canonical JSON of a config: equal settings give equal hashes, whatever the order of
 * their keys. A cell's hash is that of `{ recipe, scale, arm, seed, settings }`.
 *
 * @throws {TypeError} if the config is not JSON-safe
 */
export function hashConfig(config: object): string {
  return createHash("sha256").update(canonicalJson(config)).digest("hex");
}
