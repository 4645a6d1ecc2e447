/** A row of a golden file: what somebody else's program answered to given arguments. */
export interface GoldenCase {
  id: string;
  /** Name of the function that was called. */
  fn: string;
  args: Readonly<Record<string, unknown>>;
  expected: unknown;
  /** Why the row is not asserted: its answer depended on the machine, or is disputed. */
  leftOut?: "flaky" | "contested";
}

/** Where our answer departs from the golden one. */
export interface Difference {
  /** Path inside the answer, e.g. `lower.t`; empty for the answer itself. */
  what: string;
  expected: unknown;
  ours: unknown;
  /** We accepted what the golden program rejects; see `maxFalsePositives`. */
  isFalsePositive?: boolean;
}

/** A kind of golden file: how to read it and how to compare with it. */
export interface GoldenKind {
  name: string;
  /** One line: what is compared with whom. */
  description: string;
  /** Least share of rows that must agree; default 1. */
  threshold?: number;
  /** Most rows that may be false positives; default: no bound of its own. */
  maxFalsePositives?: number;
  /** Rows of a file. @throws {SyntaxError} if the text is not such a file */
  read(text: string): GoldenCase[];
  /** The first difference, null for agreement, or `unsupported` where coevo has no such function. */
  compare(row: GoldenCase): Difference | null | "unsupported" | Promise<Difference | null | "unsupported">;
}

/** A row that does not agree. */
export interface GoldenDifference extends Difference {
  id: string;
  fn: string;
}

/** What came out of a comparison. */
export interface GoldenReport {
  agree: number;
  /** Rows compared: without unsupported, flaky and contested ones. */
  total: number;
  /** Rows of each function that coevo lacks. */
  unsupported: ReadonlyMap<string, number>;
  leftOut: number;
  differences: readonly GoldenDifference[];
  /** Whether the kind's threshold and bound hold; false if nothing was compared. */
  isPassed: boolean;
}

/** Compares every row of a golden file with ours. */
export async function compareGolden(kind: GoldenKind, rows: readonly GoldenCase[]): Promise<GoldenReport> {
  const unsupported = new Map<string, number>();
  const differences: GoldenDifference[] = [];
  const asserted = rows.filter((row) => row.leftOut === undefined);
  let agree = 0;
  for (const row of asserted) {
    const outcome = await kind.compare(row);
    if (outcome === null) agree++;
    else if (outcome === "unsupported") unsupported.set(row.fn, (unsupported.get(row.fn) ?? 0) + 1);
    else differences.push({ id: row.id, fn: row.fn, ...outcome });
  }
  const total = agree + differences.length;
  const falsePositives = differences.filter(({ isFalsePositive }) => isFalsePositive === true).length;
  return {
    agree,
    total,
    unsupported,
    leftOut: rows.length - asserted.length,
    differences,
    isPassed: total > 0 && agree / total >= (kind.threshold ?? 1) &&
      falsePositives <= (kind.maxFalsePositives ?? Infinity),
  };
}
