import { setImmediate as nextEvent } from "node:timers/promises";
import type { Engine } from "../engine/engine.ts";
import type { EngineCost } from "../engine/timed_engine.ts";
import { countMetrics, type LoopObserver, type LoopSetup, type LoopState, runLoop } from "../method/loop.ts";
import { isInfrastructureError } from "./exit_code.ts";
import type { RunOptions } from "./recipe.ts";
import { RECORD_VERSION, type RunConfig, type RunEnvironment } from "../record/schema.ts";
import { RecordReadError } from "../record/record_errors.ts";
import { openRun, type RunWriter } from "../record/run_writer.ts";

/** Where a cell is run from. */
export interface CellContext {
  directory: string;
  config: RunConfig;
  environment: RunEnvironment;
  codeDiff: string | null;
  options: RunOptions;
  /** Whether the directory holds a checkpoint to go on from. */
  isResumed: boolean;
  /** Told after every step. */
  onProgress(progress: CellProgress): void;
  /** True once the cell should stop at the next boundary and keep a checkpoint. */
  shouldStop(): boolean;
}

/** How far a cell is. */
export interface CellProgress {
  step: number;
  rollouts: number;
  budget: number;
  /** Mean training reward of the last step. */
  reward: number | null;
  /** Exact match of the last evaluation, with the first way of decoding. */
  em: number | null;
  /** Tokens generated per second of the last step. */
  tokensPerSecond: number | null;
}

/** How running a cell ended. */
export type CellOutcome = "finished" | "interrupted";

/** What is recorded besides the loop itself. */
export interface RecordedSetup<Task> {
  loop: LoopSetup<Task>;
  /** Reads and resets the engine's meter; null where there is no engine of ours. */
  takeCost: (() => EngineCost) | null;
  /** Steps between checkpoints. */
  checkpointInterval: number;
}

/**
 * Runs the loop of a cell with its records: journal, samples, timing, checkpoints. Goes on from the last checkpoint if
 * the directory holds one; what was written behind it is written again, equal.
 */
export async function runRecorded<Task>(setup: RecordedSetup<Task>, context: CellContext): Promise<CellOutcome> {
  const { loop } = setup;
  const run = await openRun(context.directory, {
    config: context.config,
    environment: context.environment,
    codeDiff: context.codeDiff,
    budget: loop.budget,
  });
  try {
    const from = await restore(loop, run);
    if (from === undefined) run.journal(startEntryOf(context.config));
    const { state, isFinished } = await runLoop(loop, observerOf(setup, run, context), from);
    if (!isFinished) {
      await run.status({ state: "interrupted", step: state.step, rollouts: state.rollouts });
      return "interrupted";
    }
    // Before the last line, or a run that is killed between the two would write that line again.
    await checkpoint(loop, run, state);
    await run.finish({ step: state.step, rollouts: state.rollouts, reason: "budget" });
    return "finished";
  } catch (error) {
    await run.fail(error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    await run.close();
  }
}

function startEntryOf({ recipe, scale, arm, seed, hash }: RunConfig): Parameters<RunWriter["journal"]>[0] {
  return { v: RECORD_VERSION, type: "start", recipe, scale, arm, seed, configHash: hash };
}

interface SavedState {
  loop: LoopState;
  method: unknown;
}

async function restore<Task>(loop: LoopSetup<Task>, run: RunWriter): Promise<LoopState | undefined> {
  if (run.resume === null) return undefined;
  const saved = run.resume.state as SavedState;
  try {
    loop.method.restore(saved.method);
    await loop.engine?.load(run.resume.enginePath);
  } catch (cause) {
    // A service that is away damages nothing.
    if (isInfrastructureError(cause)) throw cause;
    const problem = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new RecordReadError(
      run.resume.enginePath,
      null,
      `the checkpoint does not load (${problem}); run again with --fresh (the old run is kept in superseded/)`,
      { cause },
    );
  }
  return saved.loop;
}

async function checkpoint<Task>(loop: LoopSetup<Task>, run: RunWriter, state: LoopState): Promise<void> {
  const saved: SavedState = { loop: state, method: loop.method.snapshot() };
  await run.checkpoint(state.step, saved, (folder) => saveEngine(loop.engine, folder));
}

async function saveEngine(engine: Engine | null, folder: string): Promise<void> {
  await engine?.save(folder);
}

function observerOf<Task>(setup: RecordedSetup<Task>, run: RunWriter, context: CellContext): LoopObserver<Task> {
  const { loop } = setup;
  let lastReward: number | null = null;
  let lastEm: number | null = null;
  let stepStart = performance.now();
  return {
    step: ({ step, rollouts }, metrics) => {
      lastReward = metrics.reward;
      run.journal({ v: RECORD_VERSION, type: "step", step, rollouts, metrics });
    },
    event: ({ step, rollouts }, name, data) =>
      run.journal({ v: RECORD_VERSION, type: "event", name, step, rollouts, data }),
    evaluation: ({ step, rollouts, evaluations }, panel, decoding, conditioning, trajectories) => {
      const em = trajectories.reduce((sum, { reward }) => sum + reward, 0) / trajectories.length;
      // The live line shows one curve: the first way of decoding of the first panel.
      const isFirst = panel === loop.panels[0] && decoding === panel.decodings[0].name;
      if (isFirst) lastEm = em;
      run.journal({
        v: RECORD_VERSION,
        type: "evaluation",
        evaluation: evaluations,
        step,
        rollouts,
        panel: panel.name,
        decoding,
        conditioning: conditioning.id,
        n: trajectories.length,
        metrics: { em, ...countMetrics(trajectories) },
      });
      for (const { task, reward, answer, turns } of trajectories) {
        run.sample({
          v: RECORD_VERSION,
          evaluation: evaluations,
          step,
          panel: panel.name,
          decoding,
          item: loop.taskId(task),
          reward,
          answer,
          turns,
        });
      }
    },
    boundary: async (state) => {
      const seconds = (performance.now() - stepStart) / 1000;
      stepStart = performance.now();
      const cost = setup.takeCost?.() ?? { seconds: 0, tokens: 0 };
      run.timing({
        v: RECORD_VERSION,
        step: state.step,
        at: new Date().toISOString(),
        seconds,
        engineSeconds: cost.seconds,
        tokens: cost.tokens,
      });
      // An engine in this process computes without a pause: signals and the end of standard input arrive only here.
      await nextEvent();
      const stops = context.shouldStop();
      if (stops || state.step % setup.checkpointInterval === 0) await checkpoint(loop, run, state);
      context.onProgress({
        step: state.step,
        rollouts: state.rollouts,
        budget: loop.budget,
        reward: lastReward,
        em: lastEm,
        tokensPerSecond: cost.seconds > 0 ? cost.tokens / cost.seconds : null,
      });
      return stops;
    },
  };
}
