/** A command line that cannot be understood; scripts print the message as one line and exit with 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** A flag with how its value is read; a flag without `parse` takes no value. */
export interface Flag {
  /** One line for the help text. */
  help: string;
  /** Placeholder of the value in the help text. */
  value?: string;
  /** @throws {UsageError} on a bad value; the message needs not name the flag */
  parse?(text: string): unknown;
}

/** Parsed flags by name, and the words that are none. */
export interface Arguments {
  flags: Record<string, unknown>;
  words: string[];
}

/**
 * Reads `--name value`, `--name=value` and `--name`. Every flag may be given once.
 *
 * @throws {UsageError} on an unknown flag (with the nearest known one), a missing or bad value, or a repetition
 */
export function parseArguments(args: readonly string[], known: Readonly<Record<string, Flag>>): Arguments {
  const flags: Record<string, unknown> = {};
  const words: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (!arg.startsWith("--")) {
      words.push(arg);
      continue;
    }
    const equals = arg.indexOf("=");
    const name = equals < 0 ? arg.slice(2) : arg.slice(2, equals);
    const flag = known[name];
    if (!Object.hasOwn(known, name)) {
      throw new UsageError(unknownName("flag", `--${name}`, Object.keys(known).map((each) => `--${each}`)));
    }
    if (name in flags) throw new UsageError(`--${name} is given twice`);
    if (flag.parse === undefined) {
      if (equals >= 0) throw new UsageError(`--${name} takes no value`);
      flags[name] = true;
      continue;
    }
    const text = equals >= 0 ? arg.slice(equals + 1) : rest.shift();
    if (text === undefined || (equals < 0 && text.startsWith("--"))) {
      throw new UsageError(`--${name} needs a value: --${name} ${flag.value ?? "VALUE"}`);
    }
    flags[name] = parseValue(name, text, flag.parse);
  }
  return { flags, words };
}

function parseValue(name: string, text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`--${name} ${JSON.stringify(text)}: ${error.message}`);
  }
}

/** `unknown recipe "inspoo"; did you mean "inspo"? There are: inspo, …` */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const nearest = [...known].sort((a, b) => editDistance(a, name) - editDistance(b, name))[0];
  const isNear = nearest !== undefined && editDistance(nearest, name) <= Math.max(2, name.length / 3);
  const suggestion = isNear ? `; did you mean ${nearest}?` : ".";
  return `unknown ${kind} ${JSON.stringify(name)}${suggestion} There are: ${known.join(", ")}`;
}

/** A whole number of at least `minimum` and, if it is given, at most `maximum`. */
export function wholeNumber(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
      throw new UsageError(`needs a whole number ${range}`);
    }
    return value;
  };
}

/** A number from 0 to `maximum`. */
export function numberUpTo(maximum: number): (text: string) => number {
  const range = maximum === Infinity ? "of at least 0" : `from 0 to ${maximum}`;
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value) || value < 0 || value > maximum) {
      throw new UsageError(`needs a number ${range}`);
    }
    return value;
  };
}

/** One of some names. */
export function oneOf<Name extends string>(...names: readonly Name[]): (text: string) => Name {
  return (text) => {
    const name = names.find((each) => each === text);
    if (name === undefined) throw new UsageError(`needs one of ${names.join(", ")}`);
    return name;
  };
}

/** A number greater than 0. */
export function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value <= 0) {
    throw new UsageError("needs a number greater than 0");
  }
  return value;
}

/** Any text but an empty one. */
export function nonEmpty(text: string): string {
  if (text.trim() === "") throw new UsageError("needs a value that is not empty");
  return text;
}

/** Most seeds that one command may ask for. */
const MOST_SEEDS = 1000;

/** `5` → 1..5, `7,9` → 7 and 9, `7..9` → 7, 8 and 9. */
export function seedList(text: string): number[] {
  const shapes = "needs N (seeds 1 to N), A..B, or a list A,B,…";
  const range = text.match(/^(\d+)\.\.(\d+)$/);
  const seeds = range
    ? rangeOf(Number(range[1]), Number(range[2]))
    : /^\d+$/.test(text)
    ? rangeOf(1, Number(text))
    : /^\d+(,\d+)+$/.test(text)
    ? text.split(",").map(Number)
    : [];
  if (seeds.length === 0) throw new UsageError(shapes);
  if (new Set(seeds).size < seeds.length) throw new UsageError("names a seed twice");
  if (seeds.some((seed) => seed < 1 || seed > 0x7fffffff)) {
    throw new UsageError("seeds are whole numbers from 1 to 2147483647");
  }
  return seeds;
}

function rangeOf(first: number, last: number): number[] {
  if (last - first >= MOST_SEEDS) throw new UsageError(`asks for more than ${MOST_SEEDS} seeds`);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}

/** Help text: usage, then the flags one a line. */
export function helpText(usage: string, known: Readonly<Record<string, Flag>>): string {
  const names = Object.entries(known).map(([name, { value }]) =>
    value === undefined ? `--${name}` : `--${name} ${value}`
  );
  const width = Math.max(...names.map((name) => name.length));
  const lines = Object.values(known).map(({ help }, index) => `  ${names[index].padEnd(width)}  ${help}`);
  return [usage, "", ...lines].join("\n");
}
