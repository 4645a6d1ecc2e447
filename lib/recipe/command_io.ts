/** A stream that a command writes to, and what it can show. */
export interface OutputStream {
  write(text: string): void;
  /** Whether it is a terminal that understands escape codes. */
  isTerminal: boolean;
  hasColor: boolean;
  /** Columns of the terminal; a usual width where it is none. */
  columns: number;
}

/** A signal that asks a command to stop. */
export type StopSignal = "SIGINT" | "SIGTERM";

/** What a command needs from its process. */
export interface CommandIo {
  stdout: OutputStream;
  stderr: OutputStream;
  /** From now on `handle` is called on these signals, each time, in place of the process's end. */
  onStopSignal(handle: (signal: StopSignal) => void): void;
}
