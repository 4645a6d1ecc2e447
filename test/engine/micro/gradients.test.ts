import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Aggregation, Datum, Loss } from "../../../lib/engine/engine.ts";
import { createMicroEngine, type MicroEngine } from "../../../lib/engine/micro/micro_engine.ts";
import { type ModelShape, parameterLayout } from "../../../lib/engine/micro/model_shape.ts";
import { encodeSafetensors } from "../../../lib/engine/micro/safetensors.ts";
import { randomStream } from "../../../lib/random/stream.ts";
import { exampleBatch, relativeError } from "./example_batch.ts";
import { numberTokenizer } from "./number_tokenizer.ts";
import { continuationLogprobs, referenceLoss, type Weights } from "./reference_model.ts";

const AGGREGATIONS: readonly Aggregation[] = ["token-mean", "seq-mean-token-mean"];
const LOSSES: readonly Loss[] = AGGREGATIONS.flatMap((aggregation): Loss[] => [
  { kind: "ppo", clipLow: 0.2, clipHigh: 0.3, aggregation },
  { kind: "ppo", clipLow: 0.2, clipHigh: 0.3, dualClip: 3, klCoef: 0.1, coefficient: 0.5, aggregation },
  { kind: "weighted-nll", coefficient: 2, aggregation },
  { kind: "teacher-kl", teacher: "current", aggregation },
  { kind: "teacher-kl", teacher: "reference", coefficient: 0.5, aggregation },
]);

describe("finite differences in float64", () => {
  const shape = { vocabulary: 24, width: 32, layers: 2, heads: 2, feedForward: 40, contextLength: 16, rotaryBase: 200 };
  const batch = exampleBatch(shape.vocabulary, [[3, 8], [1, 5], [6, 9]]);

  test.each(["wasm", "plain"] as const)(
    "logprobs() of %s kernels agree with an independent float64 model",
    async (kernels) => {
      const { engine, weights } = await trainedEngine(shape, batch, kernels);
      const actual = await engine.logprobs(batch);
      for (const [i, { prompt, continuation }] of batch.entries()) {
        const table = continuationLogprobs(shape, weights.current, prompt, continuation);
        for (const [t, token] of continuation.entries()) expect(actual[i][t]).toBeCloseTo(table[t][token], 5);
      }
    },
  );

  test.each(LOSSES)("forwardBackward() has the derivative of $kind, $aggregation, in every tensor", async (loss) => {
    const { engine, weights } = await trainedEngine(shape, batch, "wasm");
    const other = loss.kind === "teacher-kl" && loss.teacher === "current" ? weights.current : weights.reference;
    const value = (at: Weights) => referenceLoss(shape, at, other, batch, loss);
    const metrics = await engine.forwardBackward(batch, loss);
    expect(metrics.loss).toBeCloseTo(value(weights.current), 5);
    const gradients = engine.gradients();
    const stream = randomStream("directions");
    for (const [name, gradient] of gradients) {
      const [analytic, numeric]: number[][] = [[], []];
      for (let repetition = 0; repetition < 3; repetition++) {
        const direction = gradient.map(() => (stream.next() < 0.5 ? -1 : 1) / Math.sqrt(gradient.length));
        analytic.push(gradient.reduce((sum, g, i) => sum + g * direction[i], 0));
        numeric.push(
          (value(moved(weights.current, name, direction, 1e-5)) -
            value(moved(weights.current, name, direction, -1e-5))) / 2e-5,
        );
      }
      expect(relativeError(analytic, numeric), name).toBeLessThan(1e-4);
    }
  });
});

describe("torch in float64", () => {
  const golden: Golden = JSON.parse(readFileSync("test/golden/micro_engine_torch.json", "utf8"));
  const batch = golden.data.map((datum): Datum => ({
    prompt: Int32Array.from(datum.prompt),
    continuation: Int32Array.from(datum.continuation),
    teacherPrompt: Int32Array.from(datum.teacherPrompt),
    mask: Float32Array.from(datum.mask),
    weights: Float32Array.from(datum.weights),
    logprobs: Float32Array.from(datum.logprobs),
  }));

  test.each(golden.cases)(
    "forwardBackward() agrees with autograd: $loss.kind, $loss.aggregation",
    async ({ loss, value, gradient }) => {
      const engine = await goldenEngine(golden.shape);
      const metrics = await engine.forwardBackward(batch, loss);
      expect(metrics.loss).toBeCloseTo(value, 5);
      expectExcerpt(engine.gradients(), gradient, 1e-4);
    },
  );

  test("optimStep() agrees with clip_grad_norm_ and AdamW over three steps of two losses", async () => {
    const engine = await goldenEngine(golden.shape);
    const { losses, options, norms, weights } = golden.update;
    for (const norm of norms) {
      for (const loss of losses) await engine.forwardBackward(batch, loss);
      const { grad_norm } = await engine.optimStep(options);
      expect(grad_norm / norm).toBeCloseTo(1, 4);
    }
    expectExcerpt(engine.parameters(), weights, 1e-5);
  });
});

interface Excerpt {
  norm: number;
  stride: number;
  values: number[];
}

interface Golden {
  shape: ModelShape;
  data: Record<"prompt" | "continuation" | "teacherPrompt" | "mask" | "weights" | "logprobs", number[]>[];
  cases: { loss: Loss; value: number; gradient: Record<string, Excerpt> }[];
  update: {
    losses: Loss[];
    options: { learningRate: number };
    norms: number[];
    weights: Record<string, Excerpt>;
  };
}

function expectExcerpt(actual: Map<string, Float32Array>, golden: Record<string, Excerpt>, tolerance: number): void {
  expect([...actual.keys()]).toEqual(Object.keys(golden));
  for (const [name, { norm, stride, values }] of Object.entries(golden)) {
    const tensor = actual.get(name)!;
    expect(Math.hypot(...tensor) / norm, name).toBeCloseTo(1, 4);
    expect(relativeError(tensor.filter((_, i) => i % stride === 0), values), name).toBeLessThan(tolerance);
  }
}

/** The engine with the script's weights; its snapshot `reference` has the script's others. */
async function goldenEngine(shape: ModelShape): Promise<MicroEngine> {
  const engine = makeEngine(shape, "wasm");
  await engine.loadWeights(goldenWeights(shape, 500, 0.2));
  await engine.snapshot("reference");
  await engine.loadWeights(goldenWeights(shape, 0, 0));
  return engine;
}

/** What scripts/golden/micro_engine_torch.py calls weights(salt, spread). */
function goldenWeights(shape: ModelShape, salt: number, spread: number): Uint8Array {
  const tensors = parameterLayout(shape).tensors.map(({ name, shape: [rows, columns], size }, index) => {
    const scale = index === 0 ? 0.9 : 1.7 / Math.sqrt(rows);
    const values = Float32Array.from({ length: size }, (_, i) => {
      const x = uniform(1 + index, i) + spread * uniform(salt + index, i);
      return columns === undefined ? 1 + 0.2 * x : x * scale;
    });
    return [name, { shape: columns === undefined ? [rows] : [rows, columns], values }] as const;
  });
  return encodeSafetensors({ tensors: new Map(tensors), metadata: {} });
}

function uniform(salt: number, index: number): number {
  let h = (index + Math.imul(salt, 0x9e3779b9)) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 31 - 1;
}

function makeEngine(shape: ModelShape, kernels: "wasm" | "plain"): MicroEngine {
  return createMicroEngine({ ...shape, tokenizer: numberTokenizer(shape.vocabulary), seed: 5, kernels });
}

/** An engine a few updates away from its snapshot `reference`, and both weights in float64. */
async function trainedEngine(
  shape: ModelShape,
  batch: Datum[],
  kernels: "wasm" | "plain",
): Promise<{ engine: MicroEngine; weights: { current: Weights; reference: Weights } }> {
  const engine = makeEngine(shape, kernels);
  await engine.snapshot("reference");
  const reference = inFloat64(engine.parameters());
  for (let step = 0; step < 3; step++) {
    await engine.forwardBackward(batch, { kind: "weighted-nll", aggregation: "token-mean" });
    await engine.optimStep({ learningRate: 0.003 });
  }
  return { engine, weights: { current: inFloat64(engine.parameters()), reference } };
}

function inFloat64(tensors: Map<string, Float32Array>): Weights {
  return new Map([...tensors].map(([name, values]) => [name, Float64Array.from(values)]));
}

function moved(weights: Weights, name: string, direction: Float32Array, by: number): Weights {
  return new Map([...weights, [name, weights.get(name)!.map((w, i) => w + by * direction[i])]]);
}
