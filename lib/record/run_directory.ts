import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** What names a run's directory. */
export interface RunPlace {
  /** The results root. */
  out: string;
  recipe: string;
  scale: string;
  arm: string;
  seed: number;
  /** Settings that differ from the recipe's. */
  variant: Readonly<Record<string, string | number>>;
}

/** Folder below the results root for what was set aside; never read, never deleted. */
export const SUPERSEDED = "superseded";

/** `<out>/<recipe>/<scale>/<arm>[@key=value,…]/seed-<n>`; keys are sorted, values kept to characters that are safe in a path. */
export function runDirectory({ out, recipe, scale, arm, seed, variant }: RunPlace): string {
  const suffix = Object.entries(variant).sort(([a], [b]) => a < b ? -1 : 1).map(([key, value]) =>
    `${key}=${pathSafe(`${value}`)}`
  ).join(",");
  return join(out, recipe, scale, suffix === "" ? arm : `${arm}@${suffix}`, `seed-${seed}`);
}

/** All run directories below a results root, in order of their paths. */
export function findRuns(out: string): string[] {
  const runs: string[] = [];
  for (const recipe of foldersOf(out).filter((name) => name !== SUPERSEDED)) {
    for (const scale of foldersOf(join(out, recipe))) {
      for (const arm of foldersOf(join(out, recipe, scale))) {
        for (const seed of foldersOf(join(out, recipe, scale, arm))) {
          const directory = join(out, recipe, scale, arm, seed);
          if (/^seed-\d+$/.test(seed) && existsSync(join(directory, "config.json"))) runs.push(directory);
        }
      }
    }
  }
  return runs;
}

/** Everything else than letters, digits, `.`, `-` and `_` becomes `_`, e.g. the slash of a model's name. */
function pathSafe(value: string): string {
  return value.replace(/[^A-Za-z0-9._-]/g, "_");
}

function foldersOf(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name)
    .sort();
}
