// deno-lint-ignore-file no-console
/**
 * How fast the embedded engine is, beside torch on one thread with the same model, data and losses:
 * `deno run -A scripts/bench/engine.ts [repetitions]`.
 *
 * The python with torch is `COEVO_PYTHON`, or `python3`; without torch only the engine's own times are printed.
 * Repetitions of both are interleaved, so that a busy machine slows both down.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Datum } from "../../lib/engine/engine.ts";
import { createMicroEngine, type MicroEngine } from "../../lib/engine/micro/micro_engine.ts";
import { randomStream } from "../../lib/random/stream.ts";

const BATCH = 64;
const PROMPT_LENGTH = 16;
const NEW_TOKENS = 80;
const VOCABULARY = 128;
const WARM_UPS = 3;
const repetitions = Number(Deno.args[0] ?? 15);
const python = Deno.env.get("COEVO_PYTHON") ?? "python3";

const engine = createMicroEngine({
  tokenizer: {
    vocabulary: VOCABULARY,
    encode: (text) => Int32Array.from(text.split(" "), Number),
    decode: (tokens) => tokens.join(" "),
    applyTemplate: () => "",
  },
  contextLength: PROMPT_LENGTH + NEW_TOKENS,
  seed: 1,
});
const batch = await exampleBatch(engine);
const folder = await mkdtemp(join(tmpdir(), "bench-engine-"));
try {
  const torch = await startTorch(folder);
  const times = await measure(torch);
  await report(times, torch);
  await torch?.close();
} finally {
  await rm(folder, { recursive: true });
}

/** Milliseconds of every repetition. */
interface Times {
  update: number[];
  sample: number[];
}

async function measure(torch: Torch | null): Promise<{ ours: Times; torchs: Times }> {
  const ours: Times = { update: [], sample: [] };
  const torchs: Times = { update: [], sample: [] };
  for (let repetition = -WARM_UPS; repetition < repetitions; repetition++) {
    for (const [name, work] of [["update", update], ["sample", sample]] as const) {
      const start = performance.now();
      const loss = await work(repetition);
      const milliseconds = performance.now() - start;
      const answer = await torch?.ask(name);
      if (loss !== undefined && answer !== undefined && Math.abs(answer.loss - loss) > 1e-4) {
        throw new Error(`The engine's loss ${loss} is not torch's ${answer.loss}: they do not compute the same`);
      }
      if (repetition < 0) continue;
      ours[name].push(milliseconds);
      if (answer !== undefined) torchs[name].push(answer.milliseconds);
    }
  }
  return { ours, torchs };
}

/** Forward, backward and AdamW with learning rate 0, so that every repetition does the same. */
async function update(): Promise<number> {
  const { loss } = await engine.forwardBackward(batch, {
    kind: "ppo",
    clipLow: 0.2,
    clipHigh: 0.2,
    aggregation: "token-mean",
  });
  await engine.optimStep({ learningRate: 0, maxGradNorm: 1 });
  return loss;
}

async function sample(repetition: number): Promise<undefined> {
  await engine.sample(batch.map(({ prompt }) => prompt), {
    maxTokens: NEW_TOKENS,
    temperature: 1,
    seeds: batch.map((_, i) => 1000 * (repetition + WARM_UPS) + i),
  });
}

async function report({ ours, torchs }: { ours: Times; torchs: Times }, torch: Torch | null): Promise<void> {
  const tokens = BATCH * NEW_TOKENS;
  const perSecond = (milliseconds: number) => `${(tokens / milliseconds).toFixed(1)}k tokens/s`;
  const { parameters, device } = engine.info;
  console.log(`micro engine (${parameters} parameters, ${device}), medians of ${repetitions} interleaved repetitions`);
  console.log(`  update ${BATCH} × ${PROMPT_LENGTH + NEW_TOKENS} tokens: ${median(ours.update).toFixed(1)} ms`);
  console.log(
    `  sample ${BATCH} × ${NEW_TOKENS} tokens: ${median(ours.sample).toFixed(1)} ms, ${perSecond(median(ours.sample))}`,
  );
  console.log(`  memory of the process: ${megabytes(Deno.memoryUsage().rss)}`);
  if (torch === null) {
    console.log(`no torch in ${python}: python3 -m venv VENV && VENV/bin/pip install torch==2.13.0 numpy`);
    console.log("  then COEVO_PYTHON=VENV/bin/python");
    return;
  }
  const { bytes, torch: version } = await torch.ask("memory");
  const { attention } = await torch.ask("sample");
  console.log(`torch ${version} (one thread, ${attention} attention in decoding)`);
  console.log(`  update: ${median(torchs.update).toFixed(1)} ms`);
  console.log(`  sample: ${median(torchs.sample).toFixed(1)} ms, ${perSecond(median(torchs.sample))}`);
  console.log(`  memory of the process: ${megabytes(bytes)}`);
  const ratio = (name: keyof Times) => (median(ours[name]) / median(torchs[name])).toFixed(2);
  console.log(
    `time of the engine / time of torch: update ${ratio("update")} (at most 3), sample ${ratio("sample")} (below 1)`,
  );
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

/** On-policy data: random tokens with the engine's own log-probabilities, a little off. */
async function exampleBatch(engine: MicroEngine): Promise<Datum[]> {
  const stream = randomStream("bench");
  const numbers = (size: number) => Float32Array.from({ length: size }, () => stream.next() - 0.5);
  const sequences = Array.from({ length: BATCH }, () => ({
    prompt: Int32Array.from({ length: PROMPT_LENGTH }, () => stream.below(VOCABULARY)),
    continuation: Int32Array.from({ length: NEW_TOKENS }, () => stream.below(VOCABULARY)),
  }));
  const logprobs = await engine.logprobs(sequences);
  return sequences.map((sequence, i) => ({
    ...sequence,
    mask: new Float32Array(NEW_TOKENS).fill(1),
    weights: numbers(NEW_TOKENS),
    logprobs: numbers(NEW_TOKENS).map((noise, t) => logprobs[i][t] + 0.5 * noise),
  }));
}

/** A torch process that answers questions. */
interface Torch {
  // deno-lint-ignore no-explicit-any -- a line of JSON from our own script
  ask(command: string): Promise<any>;
  close(): Promise<void>;
}

/** Null where there is no python with torch. */
async function startTorch(folder: string): Promise<Torch | null> {
  const probe = new Deno.Command(python, { args: ["-c", "import torch, numpy"], stdout: "null", stderr: "null" });
  const hasTorch = await Promise.try(() => probe.output()).then(({ success }) => success, () => false); // no such program
  if (!hasTorch) return null;
  await engine.save(folder);
  const work = join(folder, "work.json");
  await writeFile(
    work,
    JSON.stringify({
      heads: 4,
      contextLength: engine.info.contextLength,
      rotaryBase: 200,
      promptLength: PROMPT_LENGTH,
      newTokens: NEW_TOKENS,
      tokens: batch.map(({ prompt, continuation }) => [...prompt, ...continuation]),
      logprobs: batch.map(({ logprobs }) => [...logprobs!]),
      advantages: batch.map(({ weights }) => [...weights]),
    }),
  );
  const script = fileURLToPath(new URL("./engine_torch.py", import.meta.url));
  const child = new Deno.Command(python, {
    args: [script, join(folder, "model.safetensors"), work],
    stdin: "piped",
    stdout: "piped",
    env: { OMP_NUM_THREADS: "1", MKL_NUM_THREADS: "1" },
  }).spawn();
  const writer = child.stdin.getWriter();
  const lines = linesOf(child.stdout);
  return {
    async ask(command) {
      await writer.write(new TextEncoder().encode(`${command}\n`));
      const { value, done } = await lines.next();
      if (done) throw new Error("The torch process ended: see its error above");
      return JSON.parse(value);
    },
    async close() {
      await writer.close();
      await child.status;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}
