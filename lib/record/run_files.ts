/** Names of the files in a run's directory (design, §5). */
export const RUN_FILES = {
  config: "config.json",
  environment: "environment.json",
  codeDiff: "code.diff",
  status: "status.json",
  journal: "journal.jsonl",
  samples: "samples.jsonl",
  timing: "timing.jsonl",
  checkpoints: "checkpoint",
} as const;

/** The append-only files, whose lengths a checkpoint remembers. */
export const LINE_FILES = ["journal", "samples", "timing"] as const;
/** One of the append-only files. */
export type LineFile = typeof LINE_FILES[number];

/** `environment.json` of the first attempt, `environment.2.json` of the first resumption, and so on. */
export function attemptFile(name: string, attempt: number): string {
  if (attempt === 1) return name;
  const dot = name.lastIndexOf(".");
  return `${name.slice(0, dot)}.${attempt}${name.slice(dot)}`;
}
