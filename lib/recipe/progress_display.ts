import type { OutputStream } from "./command_io.ts";
import type { CellProgress } from "./run_recorded.ts";

/** Shows what runs: live lines on a terminal, a plain line every few seconds elsewhere. */
export interface ProgressDisplay {
  started(name: string): void;
  progress(name: string, progress: CellProgress): void;
  /** @param failure why, for a cell that failed */
  ended(name: string, outcome: string, failure?: string): void;
  /** A line above the live ones. */
  line(text: string): void;
  close(): void;
}

/** Milliseconds between redraws on a terminal, and between plain lines elsewhere. */
const TERMINAL_INTERVAL = 200;
const PLAIN_INTERVAL = 5000;

interface Live {
  startedAt: number;
  firstRollouts: number | null;
  progress: CellProgress | null;
}

/** A display for `total` cells. @param now milliseconds; a clock for tests */
export function progressDisplay(
  total: number,
  output: OutputStream,
  now: () => number = () => performance.now(),
): ProgressDisplay {
  const live = new Map<string, Live>();
  let done = 0;
  let drawn = 0;
  let lastDraw = -Infinity;

  const erase = () => {
    if (drawn > 0) output.write(`\x1b[${drawn}A\x1b[0J`);
    drawn = 0;
  };
  const draw = (force: boolean) => {
    if (!force && now() - lastDraw < (output.isTerminal ? TERMINAL_INTERVAL : PLAIN_INTERVAL)) return;
    lastDraw = now();
    const lines = [...live].map(([name, cell]) => liveLine(name, cell, now()));
    if (!output.isTerminal) {
      for (const line of lines) output.write(`${line}\n`);
      return;
    }
    erase();
    const head = `${done} of ${total} cells done`;
    const shown = [head, ...lines].map((line) => line.slice(0, Math.max(20, output.columns - 1)));
    output.write(
      shown.map((line, index) => index === 0 && output.hasColor ? `\x1b[1m${line}\x1b[22m\n` : `${line}\n`).join(""),
    );
    drawn = shown.length;
  };
  const line = (text: string) => {
    if (output.isTerminal) erase();
    output.write(`${text}\n`);
    if (output.isTerminal && live.size > 0) draw(true);
  };

  return {
    started: (name) => {
      live.set(name, { startedAt: now(), firstRollouts: null, progress: null });
      draw(output.isTerminal);
    },
    progress: (name, progress) => {
      const cell = live.get(name);
      if (cell === undefined) return;
      cell.firstRollouts ??= progress.rollouts;
      cell.progress = progress;
      draw(false);
    },
    ended: (name, outcome, failure) => {
      const cell = live.get(name);
      live.delete(name);
      done++;
      const time = cell === undefined ? "" : ` after ${seconds((now() - cell.startedAt) / 1000)}`;
      const count = `${done} of ${total}`;
      line(
        failure === undefined ? `${name}: ${outcome}${time} (${count})` : `${name}: ${outcome}: ${failure} (${count})`,
      );
    },
    line,
    close: () => {
      if (output.isTerminal) erase();
    },
  };
}

function liveLine(name: string, { startedAt, firstRollouts, progress }: Live, now: number): string {
  if (progress === null) return `${name}: starting`;
  const { step, rollouts, budget, reward, em, tokensPerSecond } = progress;
  const made = rollouts - (firstRollouts ?? 0);
  const left = made > 0 ? ((now - startedAt) / 1000) * (budget - rollouts) / made : null;
  return [
    `${name}: step ${step}, ${rollouts}/${budget} rollouts`,
    reward === null ? null : `reward ${reward.toFixed(2)}`,
    em === null ? null : `EM ${em.toFixed(3)}`,
    tokensPerSecond === null ? null : `${(tokensPerSecond / 1000).toFixed(1)}k tokens/s`,
    left === null ? null : `${seconds(left)} left`,
  ].filter((part) => part !== null).join(", ");
}

/** `8 s`, `2 min 5 s`, `1 h 3 min`. */
export function seconds(value: number): string {
  const whole = Math.max(0, Math.round(value));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor(whole % 3600 / 60)} min`;
}
