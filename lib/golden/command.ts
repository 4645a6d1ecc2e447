import { readFileSync } from "node:fs";
import { compareGolden } from "./golden.ts";
import type { GoldenDifference, GoldenKind, GoldenReport } from "./golden.ts";

/** What a command prints and exits with. */
export interface CommandResult {
  lines: string[];
  /** 0: the kind's threshold holds. 1: it does not. 2: the call could not be understood. */
  exitCode: 0 | 1 | 2;
}

const SHOWN_DIFFERENCES = 10;

/** `deno task golden <kind> <file>`: compares a golden file with ours. */
export async function goldenCommand(args: readonly string[], kinds: readonly GoldenKind[]): Promise<CommandResult> {
  const [name, path, ...rest] = args;
  if (name === undefined || path === undefined || rest.length > 0) {
    return usage(`Usage: deno task golden <kind> <file>; kinds: ${names(kinds)}`);
  }
  const kind = kinds.find((kind) => kind.name === name);
  if (kind === undefined) return usage(`Unknown kind of golden file "${name}"; kinds: ${names(kinds)}`);
  let rows;
  try {
    rows = kind.read(readFileSync(path, "utf8"));
  } catch (error) {
    // Whatever is wrong with a file that the user named is told in one line.
    return usage(`Cannot compare with "${path}" as ${kind.name}: ${(error as Error).message.split("\n")[0]}`);
  }
  const report = await compareGolden(kind, rows);
  return { lines: reportLines(kind, report), exitCode: report.isPassed ? 0 : 1 };
}

/** A report for the console: the count first, then what is missing, then the first differences. */
export function reportLines(kind: GoldenKind, report: GoldenReport): string[] {
  const { agree, total, unsupported, leftOut, differences } = report;
  const missing = [...unsupported.values()].reduce((sum, count) => sum + count, 0);
  const lines = [`${kind.name}: agree ${agree} of ${total}, ${missing} not supported`];
  if (leftOut > 0) lines.push(`left out as flaky or contested: ${leftOut}`);
  if (missing > 0) lines.push(`not supported: ${[...unsupported].map(([fn, count]) => `${fn} (${count})`).join(", ")}`);
  lines.push(...differences.slice(0, SHOWN_DIFFERENCES).map(differenceLine));
  if (differences.length > SHOWN_DIFFERENCES) lines.push(`… and ${differences.length - SHOWN_DIFFERENCES} more`);
  if (!report.isPassed) lines.push(`failed: ${failure(kind, report)}`);
  return lines;
}

function differenceLine({ id, fn, what, expected, ours }: GoldenDifference): string {
  return `${id} ${fn}${what === "" ? "" : ` ${what}`}: expected ${shown(expected)}, ours ${shown(ours)}`;
}

function failure(
  { threshold = 1, maxFalsePositives }: GoldenKind,
  { agree, total, differences }: GoldenReport,
): string {
  if (total === 0) return "nothing was compared";
  if (agree / total < threshold) return `agreement ${(agree / total).toFixed(4)} is below ${threshold}`;
  const falsePositives = differences.filter(({ isFalsePositive }) => isFalsePositive === true).length;
  return `${falsePositives} false positives are more than ${maxFalsePositives}`;
}

function shown(value: unknown): string {
  const text = typeof value === "number" ? String(value) : JSON.stringify(value) ?? "nothing";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function names(kinds: readonly GoldenKind[]): string {
  return kinds.map(({ name }) => name).join(", ");
}

function usage(line: string): CommandResult {
  return { lines: [line], exitCode: 2 };
}
