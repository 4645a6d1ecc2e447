import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** A fixture that runs in a process of its own. */
export interface Fixture {
  child: ChildProcess;
  pid: number;
  /** Its first line on standard output. */
  firstLine: Promise<string>;
  ended: Promise<void>;
}

/** Starts a script of test/record/fixtures/; killed at the end of the test if it is still there. */
export function startFixture(name: string, ...args: readonly string[]): Fixture {
  const script = fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
  const child = spawn(process.execPath, ["run", "-A", "--quiet", script, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (child.pid === undefined) throw new Error(`Cannot start ${script}`);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const firstLine = new Promise<string>((resolve) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      if (text.includes("\n")) resolve(text.split("\n")[0]);
    });
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, pid: child.pid, firstLine, ended };
}
