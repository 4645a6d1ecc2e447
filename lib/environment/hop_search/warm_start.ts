import type { Datum, Engine } from "../../engine/engine.ts";
import { randomStream } from "../../random/stream.ts";
import { concatenate } from "../engine_policy.ts";
import { demonstrate, type Demonstration, type DemonstrationPrior } from "./demonstrations.ts";

/** How the base policy is trained on demonstrations. */
export interface WarmStartSettings {
  seed: number;
  steps: number;
  /** Demonstrations a step. */
  batch: number;
  learningRate: number;
  warmupSteps: number;
  /** Share of the steps, at the end, over which the learning rate falls linearly to 5 % of its value. */
  decayShare: number;
  prior: DemonstrationPrior;
}

/** Supervised warm start; the engine's weights are changed in place. Calls `onStep` with the mean loss of every step. */
export async function warmStart(
  engine: Engine,
  settings: WarmStartSettings,
  onStep?: (step: number, loss: number) => void,
): Promise<void> {
  const stream = randomStream(settings.seed, "warm-start");
  for (let step = 0; step < settings.steps; step++) {
    const batch: Datum[] = [];
    for (let i = 0; i < settings.batch; i++) {
      batch.push(await demonstrationDatum(engine, demonstrate(stream, settings.prior)));
    }
    const { loss } = await engine.forwardBackward(batch, { kind: "weighted-nll", aggregation: "token-mean" });
    await engine.optimStep({ learningRate: learningRateAt(step, settings), beta1: 0.9, beta2: 0.95, maxGradNorm: 1 });
    onStep?.(step, loss);
  }
}

function learningRateAt(step: number, { steps, learningRate, warmupSteps, decayShare }: WarmStartSettings): number {
  const warmup = Math.min(1, (step + 1) / warmupSteps);
  const decay = Math.min(1, (steps - step) / (steps * decayShare));
  return learningRate * warmup * Math.max(0.05, decay);
}

async function demonstrationDatum(engine: Engine, demonstration: Demonstration): Promise<Datum> {
  const prompt = await engine.encode([{ role: "user", content: demonstration.prompt }]);
  const segments = await Promise.all(demonstration.segments.map(({ text }) => engine.encode(text)));
  const continuation = concatenate(segments);
  const mask = new Float32Array(continuation.length);
  let offset = 0;
  for (const [index, { by }] of demonstration.segments.entries()) {
    mask.fill(by === "policy" ? 1 : 0, offset, offset + segments[index].length);
    offset += segments[index].length;
  }
  return { prompt, continuation, mask, weights: new Float32Array(continuation.length).fill(1) };
}
