import { z } from "zod";

/** Version of every file in a run's directory; readers refuse others with what to do. */
export const RECORD_VERSION = 1;

const version = z.literal(RECORD_VERSION);
const count = z.number().int().nonnegative();
const metrics = z.record(z.string(), z.number().nullable());

/** The first line of a journal. */
export const startEntry = z.strictObject({
  v: version,
  type: z.literal("start"),
  recipe: z.string(),
  scale: z.string(),
  arm: z.string(),
  seed: z.number().int(),
  configHash: z.string(),
});

/** One step of the loop: named numbers. A number that is not finite is written as null. */
export const stepEntry = z.strictObject({
  v: version,
  type: z.literal("step"),
  step: count,
  /** Rollouts charged to the budget so far. */
  rollouts: count,
  metrics,
});

/** One evaluation of one panel with one way of decoding; its items are in samples.jsonl under the same `evaluation`. */
export const evaluationEntry = z.strictObject({
  v: version,
  type: z.literal("evaluation"),
  evaluation: count,
  step: count,
  rollouts: count,
  panel: z.string(),
  /** `greedy`, or `T=1` and the like. */
  decoding: z.string(),
  /** Id of the text that the policy read besides the task, or null. */
  conditioning: z.string().nullable(),
  n: count,
  metrics,
});

/** Something a method wants to keep: an instruction, a reflection, a verification, a population. */
export const eventEntry = z.strictObject({
  v: version,
  type: z.literal("event"),
  name: z.string(),
  step: count,
  rollouts: count,
  data: z.record(z.string(), z.unknown()),
});

/** The last line of a finished journal. */
export const finishEntry = z.strictObject({
  v: version,
  type: z.literal("finish"),
  step: count,
  rollouts: count,
  reason: z.string(),
  metrics,
});

/** A line of journal.jsonl. It holds no clock values: equal seeds give equal journals. */
export const journalEntry = z.discriminatedUnion("type", [
  startEntry,
  stepEntry,
  evaluationEntry,
  eventEntry,
  finishEntry,
]);
/** A line of journal.jsonl. */
export type JournalEntry = z.infer<typeof journalEntry>;
/** A step of the loop. */
export type StepEntry = z.infer<typeof stepEntry>;
/** An evaluation of a panel. */
export type EvaluationEntry = z.infer<typeof evaluationEntry>;
/** Something a method wants to keep. */
export type EventEntry = z.infer<typeof eventEntry>;

/** A line of samples.jsonl: the outcome of one item of one evaluation. */
export const sampleRow = z.strictObject({
  v: version,
  evaluation: count,
  step: count,
  panel: z.string(),
  decoding: z.string(),
  item: z.string(),
  reward: z.number(),
  answer: z.string().nullable(),
  turns: count,
});
/** The outcome of one item of one evaluation. */
export type SampleRow = z.infer<typeof sampleRow>;

/** A line of timing.jsonl: every clock value of a run. */
export const timingRow = z.strictObject({
  v: version,
  step: count,
  /** ISO 8601, UTC. */
  at: z.string(),
  /** Wall seconds of this step, evaluation included. */
  seconds: z.number(),
  /** Of these, seconds inside engine calls. */
  engineSeconds: z.number(),
  /** Tokens generated in this step. */
  tokens: count,
});
/** Clock values of a step. */
export type TimingRow = z.infer<typeof timingRow>;

/** config.json: everything that decides what a cell computes. */
export const runConfig = z.strictObject({
  version,
  recipe: z.string(),
  scale: z.string(),
  arm: z.string(),
  seed: z.number().int(),
  /** Resolved settings of the arm, JSON-safe. */
  settings: z.record(z.string(), z.unknown()),
  /** Hash of all the above, keys sorted. */
  hash: z.string(),
});
/** Everything that decides what a cell computes. */
export type RunConfig = z.infer<typeof runConfig>;

/** environment.json: where and with what a run was made. */
export const runEnvironment = z.strictObject({
  version,
  coevo: z.string(),
  /** Commit of the code, or `unresolved` outside a git checkout. */
  commit: z.string(),
  /** Hash of the uncommitted difference (kept as code.diff), or null for a clean checkout. */
  diffHash: z.string().nullable(),
  versions: z.record(z.string(), z.string()),
  hardware: z.strictObject({
    cpu: z.string(),
    cores: z.number(),
    memoryGiB: z.number(),
    os: z.string(),
    host: z.string(),
  }),
  command: z.string(),
  startedAt: z.string(),
});
/** Where and with what a run was made. */
export type RunEnvironment = z.infer<typeof runEnvironment>;

/** status.json: what a run is doing; replaced as a whole at each change. */
export const runStatus = z.strictObject({
  version,
  state: z.enum(["running", "finished", "failed", "interrupted"]),
  step: count,
  rollouts: count,
  budget: count,
  /** One line, where it failed. */
  error: z.string().nullable(),
  updatedAt: z.string(),
});
/** What a run is doing. */
export type RunStatus = z.infer<typeof runStatus>;
