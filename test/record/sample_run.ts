import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runDirectory } from "../../lib/record/run_directory.ts";
import { openRun, type RunOpening } from "../../lib/record/run_writer.ts";
import { sampleConfig, sampleEnvironment } from "./fixtures/sample_cell.ts";

/** What a sample run is opened with, rows checked. */
export function sampleOpening(cell: Parameters<typeof sampleConfig>[0] = {}): RunOpening {
  return { config: sampleConfig(cell), environment: sampleEnvironment(), codeDiff: null, budget: 100, isChecked: true };
}

/** How large a sample run is. */
export interface SampleSize {
  steps: number;
  items: number;
}

/** Writes a finished run of fixed content below a results root; returns its directory. */
export async function writeSampleRun(
  out: string,
  cell: Parameters<typeof sampleConfig>[0] & { variant?: Record<string, string | number> } = {},
  { steps, items }: SampleSize = { steps: 3, items: 4 },
): Promise<string> {
  const opening = sampleOpening(cell);
  const { recipe, scale, arm, seed, hash } = opening.config;
  const directory = runDirectory({ out, recipe, scale, arm, seed, variant: cell.variant ?? {} });
  const run = await openRun(directory, { ...opening, isChecked: false });
  run.journal({ v: 1, type: "start", recipe, scale, arm, seed, configHash: hash });
  for (let step = 1; step <= steps; step++) {
    const at = { step, rollouts: step * 10 };
    run.journal({ v: 1, type: "step", ...at, metrics: { reward: step / 8, "a loss": step === 2 ? NaN : 0.5 } });
    run.timing({ v: 1, step, at: `2026-01-02T03:05:0${step % 10}.250Z`, seconds: 1.5, engineSeconds: 1, tokens: 640 });
  }
  run.journal({
    v: 1,
    type: "event",
    name: "instruction",
    step: steps,
    rollouts: steps * 10,
    data: { id: "i1", text: "Search – “first”" },
  });
  const evaluation = { v: 1 as const, evaluation: 0, step: steps, panel: "test", decoding: "greedy" };
  run.journal({
    ...evaluation,
    type: "evaluation",
    rollouts: steps * 10,
    conditioning: "i1",
    n: items,
    metrics: { em: 0.5, turns: 2 },
  });
  for (let item = 0; item < items; item++) {
    run.sample({
      ...evaluation,
      item: `q${item}`,
      reward: item % 2,
      answer: item % 2 === 0 ? null : "Ørsted",
      turns: 2,
    });
  }
  await run.finish({ step: steps, rollouts: steps * 10, reason: "budget" });
  await run.close();
  return directory;
}

/** Writes a line as it stands at the end of a file of a run, which may be missing. */
export function appendText(directory: string, file: string, text: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, file), text, { flag: "a" });
}
