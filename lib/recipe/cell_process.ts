import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { Cell, RunOptions } from "./recipe.ts";
import type { CellProgress } from "./run_recorded.ts";

/** What a cell's process is told, as one JSON line on its standard input. */
export interface CellOrder {
  cell: Cell;
  directory: string;
  /** The user's command, for the record. */
  command: string;
  options: RunOptions;
}

const number = z.number().nullable();
const message = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("progress"),
    progress: z.object({
      step: z.number(),
      rollouts: z.number(),
      budget: z.number(),
      reward: number,
      em: number,
      tokensPerSecond: number,
    }),
  }),
  z.object({ type: z.literal("outcome"), outcome: z.enum(["finished", "interrupted"]) }),
  z.object({ type: z.literal("failed"), message: z.string(), isInfrastructure: z.boolean() }),
]);

/** A line that a cell's process writes on its standard output. */
export type CellMessage = z.infer<typeof message>;

/** A cell that failed. */
export interface FailedCell {
  outcome: "failed";
  message: string;
  /** A disk, a lock or a service failed it: the same command may succeed once that is mended. */
  isInfrastructure: boolean;
}

/** How a cell ended. */
export type CellResult = { outcome: "finished" | "interrupted" } | FailedCell;

/** A running cell. */
export interface CellProcess {
  result: Promise<CellResult>;
  /** Asks it to keep a checkpoint and stop after the current step; a second call kills it. */
  stop(): void;
}

/** Lines of standard error that are kept for a failure's message. */
const KEPT_LINES = 5;

/**
 * Starts a cell in a process of its own, one thread each. The process stops by itself when this one is gone: its
 * standard input ends then.
 */
export function startCell(order: CellOrder, onProgress: (progress: CellProgress) => void): CellProcess {
  const script = fileURLToPath(new URL("../../scripts/run_cell.ts", import.meta.url));
  const child = spawn(process.execPath, ["run", "-A", "--quiet", script], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => {/* The process ended before it read everything; its exit is reported below. */});
  child.stdin.write(`${JSON.stringify(order)}\n`);
  let last: CellResult | null = null;
  const errors: string[] = [];
  const stdout = createInterface({ input: child.stdout });
  stdout.on("line", (line) => {
    const parsed = parseMessage(line);
    if (parsed?.type === "progress") onProgress(parsed.progress);
    if (parsed?.type === "outcome") last = { outcome: parsed.outcome };
    if (parsed?.type === "failed") {
      last = { outcome: "failed", message: parsed.message, isInfrastructure: parsed.isInfrastructure };
    }
  });
  createInterface({ input: child.stderr }).on("line", (line) => {
    errors.push(line);
    if (errors.length > KEPT_LINES) errors.shift();
  });
  const result = new Promise<CellResult>((resolve) => {
    const fail = (message: string) => resolve({ outcome: "failed", message, isInfrastructure: false });
    child.on("error", (error) => fail(`its process could not be started: ${error.message}`));
    child.on("close", (code, signal) => last === null ? fail(exitMessage(code, signal, errors)) : resolve(last));
  });
  let isStopping = false;
  return {
    result,
    stop: () => {
      child.kill(isStopping ? "SIGKILL" : "SIGTERM");
      isStopping = true;
    },
  };
}

function parseMessage(line: string): CellMessage | null {
  try {
    return message.parse(JSON.parse(line));
  } catch {
    // A library that prints on standard output must not end the cell.
    return null;
  }
}

function exitMessage(code: number | null, signal: string | null, errors: readonly string[]): string {
  const end = signal === null
    ? `its process exited with ${code}`
    : `its process was ended by ${signal}${
      signal === "SIGKILL" ? " (out of memory, or by hand)" : ""
    }; the same command resumes it from its last checkpoint`;
  return [end, ...errors].join("\n");
}
