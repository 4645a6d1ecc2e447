import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import type { CellMessage, CellOrder } from "../../lib/recipe/cell_process.ts";
import type { RunStatus } from "../../lib/record/schema.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** How a process ended. */
export interface Ended {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}

/** A script of this repository that runs. */
export interface Script {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Resolves once `pattern` has appeared on standard output or standard error; rejects if the process ends before. */
  seen(pattern: RegExp): Promise<void>;
}

const children: ChildProcess[] = [];
const folders: string[] = [];
afterEach(() => {
  // A child may be gone and leave a cell behind.
  for (const child of children.splice(0)) killTree(child);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "coevo-test-"));
  folders.push(folder);
  return folder;
}

/** Kills a process with its children, as the kernel or a batch system would: none of them can do anything about it. */
export function killTree(child: ChildProcess): void {
  try {
    process.kill(-(child.pid ?? 0), "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Starts a script in a process group of its own, in the repository's root. */
export function startScript(
  name: "reproduce" | "store" | "run_cell" | "panel" | "bench" | "train_base" | "golden",
  args: readonly string[],
  env: Record<string, string> = {},
): Script {
  const child = spawn(Deno.execPath(), ["run", "-A", "--quiet", join(ROOT, "scripts", `${name}.ts`), ...args], {
    cwd: ROOT,
    detached: true,
    env: { ...withoutColor(), ...env },
  });
  children.push(child);
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
    watchers.forEach((watch) => watch());
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
    watchers.forEach((watch) => watch());
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const seen = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const watch = () => {
        if (pattern.test(stdout) || pattern.test(stderr)) resolve();
      };
      watchers.add(watch);
      watch();
      void ended.then((end) => reject(new Error(`${name} ended without ${pattern}: ${JSON.stringify(end)}`)));
    });
  return { child, ended, seen };
}

/** Colour must come from what is tested, not from the terminal that the tests are run in. */
function withoutColor(): Record<string, string> {
  const { NO_COLOR: _no, FORCE_COLOR: _force, ...env } = process.env;
  return env as Record<string, string>;
}

/** Runs a script to its end. */
export function runScript(...args: Parameters<typeof startScript>): Promise<Ended> {
  const script = startScript(...args);
  script.child.stdin?.end();
  return script.ended;
}

/** A cell in a process of its own, as `reproduce` starts it. */
export interface CellScript extends Script {
  /** Resolves with the first message of the step, or a later one. */
  reached(step: number): Promise<void>;
  messages: CellMessage[];
}

/** Starts scripts/run_cell.ts with an order; its standard input stays open. */
export function startCellScript(order: CellOrder): CellScript {
  const script = startScript("run_cell", []);
  const messages: CellMessage[] = [];
  const waiting = new Set<{ step: number; resolve: () => void }>();
  createInterface({ input: script.child.stdout! }).on("line", (line) => {
    const message = JSON.parse(line) as CellMessage;
    messages.push(message);
    if (message.type !== "progress") return;
    for (const each of waiting) {
      if (message.progress.step < each.step) continue;
      each.resolve();
      waiting.delete(each);
    }
  });
  script.child.stdin?.on("error", () => {/* Killed before it read its order. */});
  script.child.stdin?.write(`${JSON.stringify(order)}\n`);
  const reached = (step: number) =>
    new Promise<void>((resolve, reject) => {
      waiting.add({ step, resolve });
      void script.ended.then((end) => reject(new Error(`ended before step ${step}: ${JSON.stringify(end)}`)));
    });
  return { ...script, reached, messages };
}

/** Runs a cell to its end. @throws {Error} if it does not finish */
export async function runCellScript(order: CellOrder): Promise<void> {
  const { ended, messages } = startCellScript(order);
  const { code, stderr } = await ended;
  const last = messages.at(-1);
  if (code !== 0 || last?.type !== "outcome" || last.outcome !== "finished") {
    throw new Error(`The cell did not finish: ${JSON.stringify({ code, last, stderr })}`);
  }
}

/** Everything of a finished run that equal seeds must make equal, by file name; of large files the SHA-256. */
export async function lastingContent(directory: string): Promise<Record<string, string>> {
  const checkpoint = join(directory, "checkpoint", readFileSync(join(directory, "checkpoint/latest"), "utf8").trim());
  const tensors = readdirSync(checkpoint, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".safetensors")).sort();
  return {
    journal: readFileSync(join(directory, "journal.jsonl"), "utf8"),
    samples: readFileSync(join(directory, "samples.jsonl"), "utf8"),
    config: readFileSync(join(directory, "config.json"), "utf8"),
    state: JSON.stringify(JSON.parse(readFileSync(join(checkpoint, "state.json"), "utf8")).state),
    ...Object.fromEntries(
      await Promise.all(tensors.map(async (name) => [name, await sha256(readFileSync(join(checkpoint, name)))])),
    ),
  };
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** status.json of a run, or null without one. */
export function statusOf(directory: string): RunStatus | null {
  const path = join(directory, "status.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : null;
}

/** All files below a folder with their content, for "nothing was changed". */
export function contentOf(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length), readFileSync(path, "latin1")];
    }),
  );
}

/** Waits until a condition holds. @throws {Error} after `seconds` */
export async function until(what: string, condition: () => boolean, seconds = 20): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`${what} did not come true within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
