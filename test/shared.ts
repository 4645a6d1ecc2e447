import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "vitest";

/** The reference folder that a checkout may have beside it; tests that need it are skipped where it is absent. */
export const SHARED: string = process.env.COEVO_SHARED ?? "../shared";

/** A test that reads `paths` below the reference folder; without them it is skipped, with the reason. */
export function testWithShared(
  title: string,
  paths: readonly string[],
  body: () => void | Promise<void>,
  timeout?: number,
): void {
  const missing = paths.find((path) => !existsSync(join(SHARED, path)));
  if (missing === undefined) test(title, body, timeout);
  else {test(`${title} [needs the reference folder: COEVO_SHARED or ../shared]`, (context) =>
      context.skip("needs the reference folder (COEVO_SHARED or ../shared)"));}
}

/** A file of the reference folder as text. */
export function readShared(path: string): string {
  return readFileSync(join(SHARED, path), "utf8");
}

/** A JSON Lines file of the reference folder. */
export function readSharedLines<T>(path: string): T[] {
  return readShared(path).split("\n").filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as T);
}
