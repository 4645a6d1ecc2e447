import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { availableParallelism, cpus, hostname, totalmem } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { RECORD_VERSION, type RunEnvironment } from "./schema.ts";

/** Version of coevo; the same as in deno.json. */
export const COEVO_VERSION = "0.1.0";

/** What upstream facts are called that could not be found out. */
const UNRESOLVED = "unresolved";
/** Folders whose files decide what a run computes. */
const CODE_FOLDERS = ["lib", "scripts", "recipes", "data"];
/** Longest uncommitted difference, in bytes. */
const LONGEST_DIFF = 1 << 28;

/** What the environment is collected for. */
export interface ProvenanceInput {
  /** The user's command. */
  command: string;
  /** The repository's root. */
  root: string;
}

/** Where and with what a run is made, and the text of the code's uncommitted difference (null for a clean checkout). */
export interface Provenance {
  environment: RunEnvironment;
  codeDiff: string | null;
}

/**
 * Collects where and with what a run is made. Never fails: outside a git checkout the commit is `unresolved`, and
 * hardware that cannot be told is `unknown`.
 */
export async function collectEnvironment({ command, root }: ProvenanceInput): Promise<Provenance> {
  const [code, lock] = await Promise.all([codeState(root), hashFile(join(root, "deno.lock"))]);
  const environment: RunEnvironment = {
    version: RECORD_VERSION,
    coevo: COEVO_VERSION,
    commit: code.commit,
    diffHash: code.diff === null ? null : createHash("sha256").update(code.diff).digest("hex"),
    versions: { ...Deno.version, lock },
    hardware: hardware(),
    command,
    startedAt: new Date().toISOString(),
  };
  return { environment, codeDiff: code.diff };
}

function hardware(): RunEnvironment["hardware"] {
  const { os, arch } = Deno.build;
  return {
    cpu: attempt(() => cpus()[0].model.trim()) || "unknown",
    cores: attempt(availableParallelism) ?? 0,
    memoryGiB: Math.round((attempt(totalmem) ?? 0) / 2 ** 30 * 10) / 10,
    os: `${os} ${arch} ${attempt(() => Deno.osRelease()) ?? ""}`.trim(),
    host: attempt(hostname) ?? "unknown",
  };
}

/** A machine that does not tell a fact (no permission, no /proc) still runs cells. */
function attempt<T>(fact: () => T): T | undefined {
  try {
    return fact();
  } catch {
    return undefined;
  }
}

/** The commit of the checkout and what differs from it: git's diff, then a line with a hash for each untracked file. */
async function codeState(root: string): Promise<{ commit: string; diff: string | null }> {
  try {
    // A copy of coevo without its own history may lie inside somebody's repository: that commit says nothing about it.
    await git(root, ["ls-files", "--error-unmatch", "--", "deno.json"]);
    const commit = (await git(root, ["rev-parse", "HEAD"])).trim();
    const changes = await git(root, ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD", "--", "."]);
    const listed = await git(root, ["ls-files", "-z", "--others", "--exclude-standard", "--", ...CODE_FOLDERS]);
    const untracked = listed.split("\0").filter((name) => name !== "").sort();
    const lines = await Promise.all(
      untracked.map(async (name) => `untracked ${JSON.stringify(name)} sha256 ${await hashFile(join(root, name))}\n`),
    );
    const diff = changes + lines.join("");
    return { commit, diff: diff === "" ? null : diff };
  } catch {
    // No git, no repository, no commit yet, or a repository of another user, which git refuses to read.
    return { commit: UNRESOLVED, diff: null };
  }
}

async function git(root: string, args: readonly string[]): Promise<string> {
  // A git hook exports its own repository, which need not be this one.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
  const { stdout } = await promisify(execFile)("git", ["-c", "core.quotepath=off", ...args], {
    cwd: root,
    env,
    maxBuffer: LONGEST_DIFF,
    encoding: "utf8",
  });
  return stdout;
}

async function hashFile(path: string): Promise<string> {
  try {
    return createHash("sha256").update(await readFile(path)).digest("hex");
  } catch {
    // Removed since it was listed, or a copy of coevo without its lock file.
    return UNRESOLVED;
  }
}
