import type { RunRecord } from "../read_run.ts";
import { variantOf } from "../run_directory.ts";
import type { JournalEntry } from "../schema.ts";

/** Version of the tables. A store of another version is derived data: it is set aside and built again. */
export const STORE_VERSION = 2;

/** Column types of the store. Whole numbers are BIGINT, so that no count is too large. */
export type ColumnType = "VARCHAR" | "BIGINT" | "DOUBLE" | "BOOLEAN" | "TIMESTAMP" | "JSON";
/** A value of a row: a number for BIGINT, ISO 8601 text for TIMESTAMP, text for JSON. */
export type Cell = string | number | boolean | null;
/** A row, in the order of its table's columns. */
export type Row = readonly Cell[];

/** A table of the store. */
export interface Table {
  /** Names and types; the first is always `run`, the run's place below the results root. */
  columns: Readonly<Record<string, ColumnType>>;
  /** Columns that give every row its place, so that equal journals give equal tables. */
  order: readonly string[];
}

/** The tables that hold what runs recorded. `line` is the line of the row's file. */
export const RUN_TABLES = {
  /** One row a run. */
  runs: {
    columns: {
      run: "VARCHAR",
      recipe: "VARCHAR",
      scale: "VARCHAR",
      arm: "VARCHAR",
      variant: "VARCHAR",
      seed: "BIGINT",
      state: "VARCHAR",
      error: "VARCHAR",
      steps: "BIGINT",
      rollouts: "BIGINT",
      budget: "BIGINT",
      seconds: "DOUBLE",
      config_hash: "VARCHAR",
      settings: "JSON",
      commit: "VARCHAR",
      diff_hash: "VARCHAR",
      coevo: "VARCHAR",
      host: "VARCHAR",
      cpu: "VARCHAR",
      command: "VARCHAR",
      started_at: "TIMESTAMP",
      resumptions: "BIGINT",
      is_torn: "BOOLEAN",
    },
    order: ["run"],
  },
  /** The metrics of every step, one row each. */
  metrics: {
    columns: {
      run: "VARCHAR",
      line: "BIGINT",
      step: "BIGINT",
      rollouts: "BIGINT",
      name: "VARCHAR",
      value: "DOUBLE",
    },
    order: ["run", "line", "name"],
  },
  /** The metrics of every evaluation, one row each. */
  evaluations: {
    columns: {
      run: "VARCHAR",
      line: "BIGINT",
      evaluation: "BIGINT",
      step: "BIGINT",
      rollouts: "BIGINT",
      panel: "VARCHAR",
      decoding: "VARCHAR",
      conditioning: "VARCHAR",
      n: "BIGINT",
      name: "VARCHAR",
      value: "DOUBLE",
    },
    order: ["run", "line", "name"],
  },
  /** The outcome of every item of every evaluation. */
  samples: {
    columns: {
      run: "VARCHAR",
      line: "BIGINT",
      evaluation: "BIGINT",
      step: "BIGINT",
      panel: "VARCHAR",
      decoding: "VARCHAR",
      item: "VARCHAR",
      reward: "DOUBLE",
      answer: "VARCHAR",
      turns: "BIGINT",
    },
    order: ["run", "line"],
  },
  /** What methods kept: instructions, reflections, verifications, populations. */
  events: {
    columns: {
      run: "VARCHAR",
      line: "BIGINT",
      name: "VARCHAR",
      step: "BIGINT",
      rollouts: "BIGINT",
      data: "JSON",
    },
    order: ["run", "line"],
  },
  /** Clock values of every step. */
  timing: {
    columns: {
      run: "VARCHAR",
      line: "BIGINT",
      step: "BIGINT",
      ended_at: "TIMESTAMP",
      seconds: "DOUBLE",
      engine_seconds: "DOUBLE",
      tokens: "BIGINT",
    },
    order: ["run", "line"],
  },
} as const satisfies Record<string, Table>;

/** Name of a table that holds what runs recorded. */
export type RunTable = keyof typeof RUN_TABLES;
/** Their names, in the order in which they are made. */
export const RUN_TABLE_NAMES = Object.keys(RUN_TABLES) as RunTable[];

/** The rows of a run, by table. */
export function rowsOf(run: string, record: RunRecord): Record<RunTable, Row[]> {
  const { journal, samples, timing } = record;
  return {
    runs: [runRow(run, record)],
    metrics: journal.flatMap((entry, index) => entry.type === "step" ? metricRows(run, index + 1, entry) : []),
    evaluations: journal.flatMap((entry, index) => evaluationRows(run, index + 1, entry)),
    samples: samples.map(({ evaluation, step, panel, decoding, item, reward, answer, turns }, index) => [
      run,
      index + 1,
      evaluation,
      step,
      panel,
      decoding,
      item,
      reward,
      answer,
      turns,
    ]),
    events: journal.flatMap((entry, index) =>
      entry.type === "event"
        ? [[run, index + 1, entry.name, entry.step, entry.rollouts, JSON.stringify(entry.data)]]
        : []
    ),
    timing: timing.map(({ step, at, seconds, engineSeconds, tokens }, index) => [
      run,
      index + 1,
      step,
      at,
      seconds,
      engineSeconds,
      tokens,
    ]),
  };
}

function runRow(run: string, { config, environment, resumptions, status, journal, timing, torn }: RunRecord): Row {
  const last = journal.at(-1);
  return [
    run,
    config.recipe,
    config.scale,
    config.arm,
    variantOf(run.split("/")[2]),
    config.seed,
    status?.state ?? null,
    status?.error ?? null,
    last === undefined || last.type === "start" ? 0 : last.step,
    last === undefined || last.type === "start" ? 0 : last.rollouts,
    status?.budget ?? null,
    timing.reduce((sum, { seconds }) => sum + seconds, 0),
    config.hash,
    JSON.stringify(config.settings),
    environment.commit,
    environment.diffHash,
    environment.coevo,
    environment.hardware.host,
    environment.hardware.cpu,
    environment.command,
    environment.startedAt,
    resumptions.length,
    torn.journal || torn.samples || torn.timing,
  ];
}

function metricRows(run: string, line: number, { step, rollouts, metrics }: JournalEntry & { type: "step" }): Row[] {
  return Object.entries(metrics).map(([name, value]) => [run, line, step, rollouts, name, value]);
}

function evaluationRows(run: string, line: number, entry: JournalEntry): Row[] {
  if (entry.type !== "evaluation") return [];
  const { evaluation, step, rollouts, panel, decoding, conditioning, n, metrics } = entry;
  return Object.entries(metrics).map(([name, value]) => [
    run,
    line,
    evaluation,
    step,
    rollouts,
    panel,
    decoding,
    conditioning,
    n,
    name,
    value,
  ]);
}
