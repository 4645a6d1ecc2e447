import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { compareGolden } from "../../lib/golden/golden.ts";
import type { GoldenCase, GoldenKind } from "../../lib/golden/golden.ts";
import { qaEm } from "../../lib/golden/qa_em.ts";
import { rlNumerics } from "../../lib/golden/rl_numerics.ts";
import { stats } from "../../lib/golden/stats.ts";

/** Path of a golden selection in this folder. */
export function goldenPath(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

const SELECTIONS: readonly (readonly [GoldenKind, string])[] = [
  [qaEm, "qa_em.jsonl"],
  [rlNumerics, "rl_numerics.json"],
  [stats, "stats.json"],
];

/** The golden rows of a function in the selections of this folder. */
export function goldenRows(fn: string): GoldenCase[] {
  return SELECTIONS.flatMap(([kind, file]) => rowsOf(kind, file, fn));
}

/** Every golden row of a function, of those that `of` picks, agrees with ours; there is at least one. */
export async function expectGoldenAgreement(fn: string, of: (row: GoldenCase) => boolean = () => true): Promise<void> {
  let compared = 0;
  for (const [kind, file] of SELECTIONS) {
    const { differences, total } = await compareGolden(kind, rowsOf(kind, file, fn).filter(of));
    expect(differences).toEqual([]);
    compared += total;
  }
  expect(compared).toBeGreaterThan(0);
}

function rowsOf(kind: GoldenKind, file: string, fn: string): GoldenCase[] {
  return kind.read(readFileSync(goldenPath(file), "utf8")).filter((row) => row.fn === fn);
}
