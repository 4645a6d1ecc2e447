import { type RandomStream, randomStream } from "../../random/stream.ts";
import type { Sample, SampleOptions } from "../engine.ts";
import { drawIndex, keepNucleus, largestIndex } from "./choose_token.ts";
import { extendContexts } from "./extend_contexts.ts";
import type { Pointer } from "./kernels.ts";
import { assignSlots, type CacheSlot, commonPrefix, copySlot, type KvCache } from "./kv_cache.ts";
import type { Model } from "./model.ts";
import type { StopCondition } from "./stop_condition.ts";

/** What sampling needs besides prompts. */
export interface Sampler {
  model: Model;
  weights: Pointer;
  cache: KvCache;
  options: SampleOptions;
  isStopped: StopCondition;
}

/** A sample being written. */
interface Job {
  prompt: Int32Array;
  stream: RandomStream;
  tokens: Int32Array;
  logprobs: Float32Array;
  length: number;
  finish: "stop" | "length" | undefined;
}

/** Jobs and where their next token's distribution comes from. */
interface Front {
  jobs: Job[];
  /** The slot of every job. */
  slots: CacheSlot[];
  /** Residual stream at the end of contexts, [contexts, width]. */
  hidden: Pointer;
  /** Every job's row of `hidden`. */
  rows: number[];
}

/** Continues every prompt `options.n` times. Prompts and options are checked. */
export function samplePrompts(sampler: Sampler, prompts: readonly Int32Array[]): Sample[][] {
  const { options, model: { shape }, cache: { slots } } = sampler;
  const n = options.n ?? 1;
  const jobs = prompts.flatMap((prompt, i) =>
    Array.from({ length: n }, (_, k) => startJob(prompt, options.seeds[i], k, options.maxTokens, shape.contextLength))
  );
  for (let start = 0; start < jobs.length; start += slots.length) {
    writeSamples(sampler, jobs.slice(start, start + slots.length));
  }
  return prompts.map((_, i) => jobs.slice(i * n, (i + 1) * n).map(finishedSample));
}

function startJob(prompt: Int32Array, seed: number, index: number, maxTokens: number, contextLength: number): Job {
  const room = Math.min(maxTokens, contextLength - prompt.length);
  return {
    prompt,
    stream: randomStream(seed, "sample", index),
    tokens: new Int32Array(room),
    logprobs: new Float32Array(room),
    length: 0,
    finish: undefined,
  };
}

function finishedSample({ tokens, logprobs, length, finish }: Job): Sample {
  return { tokens: tokens.slice(0, length), logprobs: logprobs.slice(0, length), finish: finish! };
}

/** @param jobs at most as many as there are slots */
function writeSamples(sampler: Sampler, jobs: Job[]): void {
  const { model, weights, cache } = sampler;
  model.arena.release();
  let front = readPrompts(sampler, jobs);
  while (true) {
    appendTokens(sampler, front);
    front = stillOpen(front);
    if (front.jobs.length === 0) return;
    model.arena.release();
    front.hidden = extendContexts(model, weights, cache, front.slots);
  }
}

/** Gives every job a slot with its prompt; equal prompts are read once. */
function readPrompts({ model, weights, cache }: Sampler, jobs: Job[]): Front {
  const firstWith = new Map<string, number>();
  const order = jobs.map(({ prompt }, j) => {
    const key = prompt.join();
    if (!firstWith.has(key)) firstWith.set(key, j);
    return firstWith.get(key)!;
  });
  const firsts = [...firstWith.values()];
  const copies = jobs.map((_, j) => j).filter((j) => order[j] !== j);
  const assigned = assignSlots(cache, [...firsts, ...copies].map((j) => jobs[j].prompt));
  const slots = new Array<CacheSlot>(jobs.length);
  for (const [k, j] of [...firsts, ...copies].entries()) slots[j] = assigned[k];
  for (const j of firsts) setContext(slots[j], jobs[j].prompt);
  const hidden = extendContexts(model, weights, cache, firsts.map((j) => slots[j]));
  for (const j of copies) copySlot(model, cache, slots[order[j]], slots[j]);
  cache.clock++;
  for (const slot of slots) slot.lastUse = cache.clock;
  const rowOf = new Map(firsts.map((j, row) => [j, row]));
  return { jobs, slots, hidden, rows: order.map((j) => rowOf.get(j)!) };
}

/** Keeps what the slot has cached of the prompt, but for the last token: that one has to be read for its prediction. */
function setContext(slot: CacheSlot, prompt: Int32Array): void {
  slot.cached = Math.min(commonPrefix(slot, prompt), prompt.length - 1);
  slot.tokens.set(prompt);
  slot.length = prompt.length;
}

/** One more token for every job. */
function appendTokens({ model, weights, options, isStopped }: Sampler, { jobs, slots, hidden, rows }: Front): void {
  const { arena, kernels, shape: { vocabulary } } = model;
  const { temperature, topP = 1 } = options;
  const isGreedy = temperature === 0;
  const logprobs = nextLogprobs(model, weights, hidden, rows, isGreedy ? 1 : 1 / temperature);
  const probabilities = arena.take(jobs.length * vocabulary);
  if (!isGreedy) kernels.exponential(logprobs, probabilities, jobs.length * vocabulary);
  const { f32 } = arena;
  for (const [j, job] of jobs.entries()) {
    const row = (logprobs >> 2) + j * vocabulary;
    const probabilityRow = (probabilities >> 2) + j * vocabulary;
    const mass = !isGreedy && topP < 1 ? keepNucleus(f32, probabilityRow, vocabulary, topP) : 1;
    const token = isGreedy
      ? largestIndex(f32, row, vocabulary)
      : drawIndex(f32, probabilityRow, vocabulary, job.stream.next(), mass);
    job.tokens[job.length] = token;
    job.logprobs[job.length] = mass === 1 ? f32[row + token] : f32[row + token] - Math.log(mass);
    job.length++;
    if (isStopped(job.tokens, job.length)) job.finish = "stop";
    else if (job.length === job.tokens.length) job.finish = "length";
    else slots[j].tokens[slots[j].length++] = token;
  }
}

/** Log-probabilities of the next token, [rows, vocabulary], in the arena. */
function nextLogprobs(model: Model, weights: Pointer, hidden: Pointer, rows: number[], scale: number): Pointer {
  const { arena, kernels, layout, shape: { vocabulary, width } } = model;
  const count = rows.length;
  const [index, inverseRms, entropy] = [0, 1, 2].map(() => arena.take(count));
  const [x, normed] = [0, 1].map(() => arena.take(count * width));
  const logprobs = arena.take(count * vocabulary);
  arena.i32.set(rows, index >> 2);
  kernels.gatherRows(hidden, index, x, count, width);
  kernels.rmsNorm(x, weights + 4 * layout.finalNorm, normed, inverseRms, count, width);
  kernels.matmul(normed, weights + 4 * layout.head, logprobs, count, vocabulary, width, 0);
  kernels.logSoftmax(logprobs, entropy, count, vocabulary, scale);
  return logprobs;
}

/** The jobs that go on, their contexts' rows in their own order. */
function stillOpen({ jobs, slots, hidden }: Front): Front {
  const open = jobs.map((_, j) => j).filter((j) => jobs[j].finish === undefined);
  return { jobs: open.map((j) => jobs[j]), slots: open.map((j) => slots[j]), hidden, rows: open.map((_, row) => row) };
}
