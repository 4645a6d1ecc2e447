import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "./record_errors.ts";
import { RUN_FILES } from "./run_files.ts";

/** What decides where a cell's run is. */
export interface CellPlace {
  /** Results root. */
  out: string;
  recipe: string;
  scale: string;
  arm: string;
  seed: number;
  /** Settings that differ from the recipe's; they become the suffix `@key=value,…`. */
  variant?: Readonly<Record<string, string | number>>;
}

/** Longest value, percent-encoded, that is kept as it is in a folder's name. */
const LONGEST_VALUE = 80;
/** Folders of the results root that hold no current runs. */
const OTHER_FOLDERS: readonly string[] = ["superseded", "reference"];

/**
 * The directory of a cell's run: `<out>/<recipe>/<scale>/<arm>[@key=value,…]/seed-<n>`. Keys are sorted; values are
 * percent-encoded, so that different values give different folders; a very long one is cut and ends in a hash.
 *
 * @throws {RangeError} if a name would not be a folder of its own
 */
export function runDirectory({ out, recipe, scale, arm, seed, variant = {} }: CellPlace): string {
  for (const [what, name] of Object.entries({ recipe, scale, arm })) {
    if (!/^[\w][\w.+-]*$/.test(name)) {
      throw new RangeError(
        `Cannot make a folder for ${what} ${JSON.stringify(name)}: names have letters, digits and . + - _ only`,
      );
    }
  }
  const pairs = Object.keys(variant).sort().map((key) => `${encode(key)}=${encode(String(variant[key]))}`);
  const suffix = pairs.length === 0 ? "" : `@${pairs.join(",")}`;
  return join(out, recipe, scale, `${arm}${suffix}`, `seed-${seed}`);
}

function encode(text: string): string {
  const encoded = encodeURIComponent(text).replaceAll(
    /[!'()*~]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  if (encoded.length <= LONGEST_VALUE) return encoded;
  // A tilde cannot come out of the encoding above, so a cut value never meets a whole one.
  return `${encoded.slice(0, LONGEST_VALUE / 2)}~${createHash("sha256").update(text).digest("hex").slice(0, 12)}`;
}

/** The readable variant in an arm's folder name: `learningRate=1e-6,model=org/name`, or "" without one. */
export function variantOf(armFolder: string): string {
  const at = armFolder.indexOf("@");
  if (at < 0) return "";
  const suffix = armFolder.slice(at + 1);
  try {
    return decodeURIComponent(suffix);
  } catch {
    // A long value may be cut inside an encoded character.
    return suffix;
  }
}

/** A run that was found. */
export interface FoundRun {
  /** Its place below the results root, with forward slashes: the run's name in the store. */
  run: string;
  directory: string;
}

/** All runs below a results root, sorted by name; superseded ones are left out. */
export async function findRuns(out: string): Promise<FoundRun[]> {
  const runs: FoundRun[] = [];
  for (const recipe of await entries(out)) {
    if (OTHER_FOLDERS.includes(recipe)) continue;
    for (const scale of await entries(join(out, recipe))) {
      for (const arm of await entries(join(out, recipe, scale))) {
        for (const seed of await entries(join(out, recipe, scale, arm))) {
          const directory = join(out, recipe, scale, arm, seed);
          const isRun = /^seed-\d+$/.test(seed) && existsSync(join(directory, RUN_FILES.config));
          if (isRun) runs.push({ run: [recipe, scale, arm, seed].join("/"), directory });
        }
      }
    }
  }
  return runs.sort((a, b) => a.run < b.run ? -1 : a.run > b.run ? 1 : 0);
}

async function entries(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith("."));
  } catch (error) {
    // Not there yet, or a file such as report.html.
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return [];
    throw error;
  }
}
