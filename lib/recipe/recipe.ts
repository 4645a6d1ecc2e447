import type { Figure, ReportPage } from "../report/page/report_page.ts";
import type { RunRecord } from "../record/read_run.ts";
import type { CellContext, CellOutcome } from "./run_recorded.ts";

/** A number of a paper with where it was read (schema: recipes/<name>/published.json). */
export interface PublishedValue {
  value: number;
  unit: "fraction" | "percent";
  /** Table, row and setting in words. */
  what: string;
  where: string;
  quality: string;
  copiedFrom: string | null;
}

/** A method with its settings. */
export interface Arm {
  /** One sentence: what this arm does differently from the others. */
  description: string;
  /** The paper's number for it, shown beside ours, never compared at another scale. */
  published?: PublishedValue;
}

/** A number that is computed from one run. */
export interface Metric {
  id: string;
  label: string;
  /** How it is computed, in a sentence. */
  definition: string;
  higherIsBetter: boolean;
  /** Smallest step between two values a run can have: 1 / items for an exact match. */
  quantum: number;
  /** Items each run's value is taken over; null where it is none over items. */
  items: number | null;
  /** The items of a run, where they depend on its data; they take the place of `items`, and 1 / items that of `quantum`. */
  itemsOf?(run: RunRecord): number | null;
  digits: number;
  /** Reward of each item behind the run's value, where it is a mean over items. */
  outcomes?(run: RunRecord): ReadonlyMap<string, number>;
  /** Whether the value is only a lower bound, because what it waits for never came. */
  isCensored?(run: RunRecord): boolean;
  /** Null where the run does not have it (unfinished). */
  ofRun(run: RunRecord): number | null;
}

/** A learning curve of the report. */
export interface Curves {
  id: string;
  title: string;
  yLabel: string;
  ofRun(run: RunRecord): { rollouts: number; value: number }[];
}

/** A statement of the paper as a contrast of two arms, declared before anything is run. */
export interface Claim {
  id: string;
  statement: string;
  /** Where the paper says so, and how good that source is. */
  source: string;
  metric: string;
  arm: string;
  baseline: string;
  /** Smallest improvement that would matter, in the metric's unit; ≥ 0. */
  margin: number;
  /** The paper's own difference, or null where none was found. */
  published: PublishedValue | null;
}

/** A setting that the command line can change, with the value that is the recipe's own. */
export interface Overrides {
  rollouts?: number;
  model?: string;
  reflector?: string;
  /** Further settings by name, of `--grid`. */
  grid?: Readonly<Record<string, number>>;
}

/** The unit that runs, resumes and is counted. */
export interface Cell {
  recipe: string;
  scale: string;
  arm: string;
  seed: number;
  /** Settings that differ from the recipe's; they name the directory. */
  variant: Readonly<Record<string, string | number>>;
  /** Everything that decides what the cell computes, JSON-safe. */
  settings: Readonly<Record<string, unknown>>;
  budget: number;
}

/** A cell's settings as the scale that resolved the cell wrote them; which type that is, only the scale knows. */
export function settingsOf<Settings>({ settings }: Pick<Cell, "settings">): Settings {
  return settings as Settings;
}

/** What a scale needs from outside, and whether it is there. */
export interface Prerequisite {
  what: string;
  isMet: boolean;
  /** What to do if it is not. */
  remedy: string;
}

/** Options of a run that are not settings of a cell: they change how it is run, not what it computes. */
export interface RunOptions {
  /** The `--reflector` flag as given; what it stands for is part of the settings. */
  reflector?: string;
  dataDir?: string;
  recordFile?: string;
  maxCostUsd?: number;
  maxCalls?: number;
  /** USD per million input and output tokens. */
  price?: readonly [number, number];
}

/** Outcome of one panel with one way of decoding. */
export interface PanelScore {
  panel: string;
  decoding: string;
  n: number;
  successes: number;
}

/** A checkpoint scored on the panels of one seed. */
export interface CheckpointScore {
  seed: number;
  /** SHA-256 of the weights. */
  weights: string;
  /** The text that the policy read. */
  instruction: string;
  scores: readonly PanelScore[];
}

/** A recipe at one size. */
export interface Scale {
  name: string;
  description: string;
  engine: string;
  data: string;
  arms: Readonly<Record<string, Arm>>;
  defaultArms: readonly string[];
  defaultSeeds: readonly number[];
  /** Rollouts of each arm. */
  budget: number;
  /** Where this scale's protocol departs from the paper's. */
  differences: readonly string[];
  metrics: readonly Metric[];
  curves: readonly Curves[];
  claims: readonly Claim[];
  /**
   * Seconds a cell takes on one idle core, measured when the recipe was made: the estimate where no run is recorded.
   * Null where it depends on somebody else's server.
   */
  cellSeconds: number | null;
  /** Grid of `--grid`: values by setting, arms and seeds; null where there is none. */
  grid: { axes: Readonly<Record<string, readonly number[]>>; arms: readonly string[]; seeds: readonly number[] } | null;
  prerequisites(options: RunOptions, overrides: Overrides): Promise<Prerequisite[]>;
  /** What these cells would cost besides time, and what the estimate rests on: lines for `--plan`. */
  estimate?(cells: readonly Cell[], options: RunOptions): string[];
  /** What a cell computes: settings and variant. @throws {RangeError} if an override is not for this scale */
  resolve(
    arm: string,
    seed: number,
    overrides: Overrides,
    options: RunOptions,
  ): Promise<Pick<Cell, "settings" | "variant" | "budget">>;
  /** Work that cells share and must not do twice at once (a base model that is not shipped). */
  prepare(cells: readonly Cell[], report: (line: string) => void): Promise<void>;
  /** Runs or resumes a cell in this process. */
  runCell(cell: Cell, context: CellContext): Promise<CellOutcome>;
  /** Scores a checkpoint on the panels of a seed; absent where a scale has no weights. */
  evaluate?(checkpoint: string, seed: number): Promise<CheckpointScore>;
}

/** One paper's reproduction. */
export interface Recipe {
  name: string;
  title: string;
  paper: string;
  scales: Readonly<Record<string, Scale>>;
  /** What a report shows of the method itself: figures and evolved texts of these runs. */
  evolution(runs: readonly RunRecord[]): Promise<{ figures: Figure[]; texts: ReportPage["texts"] }>;
}
