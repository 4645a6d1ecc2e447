import { createHash } from "node:crypto";
import type { Document } from "./document.ts";

/** SHA-256, in hexadecimal, of the lines `["id","contents"]` (compact JSON, UTF-8, a newline behind each) in corpus order. */
export function corpusHash(corpus: readonly Document[]): string {
  const hash = createHash("sha256");
  for (const { id, contents } of corpus) hash.update(`${JSON.stringify([id, contents])}\n`);
  return hash.digest("hex");
}
