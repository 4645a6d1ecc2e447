import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { arch, availableParallelism, cpus, hostname, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { RECORD_VERSION, type RunEnvironment } from "./schema.ts";

/** Folders whose code decides a result. */
const CODE = ["lib", "scripts", "recipes", "data", "deno.json", "deno.lock"];

/** Most characters of a difference that are kept. */
const LONGEST_DIFF = 5_000_000;

/**
 * Where and with what a run is made: commit, uncommitted difference, versions, hardware. Never fails; what cannot be
 * told is `unresolved`.
 *
 * @param root folder of the checkout
 */
export function collectEnvironment(
  { command, root }: { command: string; root: string },
): Promise<{ environment: RunEnvironment; codeDiff: string | null }> {
  const commit = git(root, ["rev-parse", "HEAD"])?.trim() ?? "unresolved";
  const codeDiff = commit === "unresolved" ? null : differenceOf(root);
  const environment: RunEnvironment = {
    version: RECORD_VERSION,
    coevo: versionOf(root),
    commit,
    diffHash: codeDiff === null ? null : createHash("sha256").update(codeDiff).digest("hex"),
    versions: {
      deno: Deno.version.deno,
      v8: Deno.version.v8,
      typescript: Deno.version.typescript,
      lock: lockHash(root),
    },
    hardware: {
      cpu: cpus()[0]?.model.trim() || arch(),
      cores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30 * 10) / 10,
      os: `${type()} ${release()}`,
      host: hostname(),
    },
    command,
    startedAt: new Date().toISOString(),
  };
  return Promise.resolve({ environment, codeDiff });
}

/** Uncommitted changes of the code, untracked files included; null if there are none. */
function differenceOf(root: string): string | null {
  const changed = git(root, ["diff", "HEAD", "--", ...CODE]) ?? "";
  const untracked = git(root, ["ls-files", "--others", "--exclude-standard", "--", ...CODE]) ?? "";
  const added = untracked.split("\n").filter((path) => path !== "").map((path) => {
    const content = readFileSync(join(root, path));
    return `untracked ${path} sha256 ${createHash("sha256").update(content).digest("hex")}\n`;
  });
  const text = changed + added.join("");
  return text === "" ? null : text.slice(0, LONGEST_DIFF);
}

function git(root: string, args: readonly string[]): string | null {
  try {
    return execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 1 << 28,
      timeout: 20_000,
    });
  } catch {
    // No git, or no checkout: the caller says `unresolved`.
    return null;
  }
}

function versionOf(root: string): string {
  const path = join(root, "deno.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).version ?? "unresolved" : "unresolved";
}

function lockHash(root: string): string {
  const path = join(root, "deno.lock");
  return existsSync(path) ? createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 16) : "unresolved";
}
