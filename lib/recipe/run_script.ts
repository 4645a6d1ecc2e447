import process from "node:process";
import type { CommandIo, OutputStream } from "./command_io.ts";
import { exitCode } from "./exit_code.ts";

/** A script: from its arguments to its exit code. */
export type ScriptMain = (args: readonly string[], io: CommandIo) => Promise<number>;

/**
 * Runs a script in this process and exits with its code; an error becomes one line and a code. The one place where
 * lib/ touches the process's own streams and signals.
 */
export async function runScript(main: ScriptMain): Promise<never> {
  const io = processIo();
  let code: number;
  try {
    code = await main(Deno.args, io);
  } catch (error) {
    const failure = exitCode(error);
    io.stderr.write(`${failure.message}\n`);
    code = failure.code;
  }
  process.exit(code);
}

function processIo(): CommandIo {
  return {
    stdout: outputStream(process.stdout, 120),
    stderr: outputStream(process.stderr, 80),
    onStopSignal: (handle) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => handle(signal));
    },
  };
}

/** What is used of a process's stream. */
interface ProcessStream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

function outputStream(stream: ProcessStream, usualColumns: number): OutputStream {
  const isTerminal = stream.isTTY === true && process.env.TERM !== "dumb";
  return {
    write: (text) => void stream.write(text),
    isTerminal,
    hasColor: isTerminal && !Deno.noColor,
    get columns() {
      // A terminal that does not know its size says 0.
      return stream.columns || usualColumns;
    },
  };
}
