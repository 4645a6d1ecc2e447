import type { Datum, Engine } from "../engine/engine.ts";
import { concatenate, tokensOf } from "../environment/engine_policy.ts";
import type { Segment } from "../environment/policy.ts";
import type { Exchange, Trajectory } from "../environment/trajectory.ts";

/**
 * A trajectory as sequences to learn from, one for each exchange: the policy's own tokens have mask 1 and carry
 * `weight`, everything the environment wrote has mask 0. What the environment wrote last, and nobody read, is left out;
 * so is what is behind the engine's context length (Search-R1 keeps the first 4,096 tokens of a response).
 Log-probabilities that sampling did not leave behind (a turn
 * that was cut and tokenised again) are recomputed under the current weights, as Search-R1 does for all of them.
 */
export async function trajectoryData(
  engine: Engine,
  trajectory: Trajectory<unknown>,
  weight: number,
): Promise<Datum[]> {
  const data: Datum[] = [];
  for (const exchange of trajectory.exchanges) data.push(await exchangeDatum(engine, exchange, weight));
  return data;
}

async function exchangeDatum(engine: Engine, { prompt, segments }: Exchange, weight: number): Promise<Datum> {
  const promptTokens = await engine.encode(prompt);
  const read = segments.slice(0, segments.findLastIndex(({ by }) => by === "policy") + 1);
  const room = Math.max(0, engine.info.contextLength - promptTokens.length);
  const continuation = concatenate(read.map(tokensOf)).slice(0, room);
  const mask = Float32Array.from(read.flatMap((segment) => perToken(segment, segment.by === "policy" ? 1 : 0)));
  const sampled = read.some(lacksLogprobs)
    ? (await engine.logprobs([{ prompt: promptTokens, continuation }]))[0]
    : Float32Array.from(read.flatMap((segment) => segment.logprobs ? [...segment.logprobs] : perToken(segment, 0)));
  return {
    prompt: promptTokens,
    continuation,
    mask: mask.slice(0, room),
    weights: new Float32Array(continuation.length).fill(weight),
    logprobs: sampled.slice(0, room),
  };
}

function perToken(segment: Segment, value: number): number[] {
  return new Array<number>(tokensOf(segment).length).fill(value);
}

function lacksLogprobs(segment: Segment): boolean {
  return segment.by === "policy" && segment.logprobs === undefined;
}
