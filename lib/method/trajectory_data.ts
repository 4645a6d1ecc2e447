import type { Datum, Engine } from "../engine/engine.ts";
import { concatenate, tokensOf } from "../environment/engine_policy.ts";
import type { Segment } from "../environment/policy.ts";
import type { Exchange, Trajectory } from "../environment/trajectory.ts";

/**
 * A trajectory as sequences to learn from, one for each exchange: the policy's own tokens have mask 1 and carry
 * `weight`, everything the environment wrote has mask 0. Log-probabilities that sampling did not leave behind (a turn
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
  const continuation = concatenate(segments.map(tokensOf));
  const mask = new Float32Array(continuation.length);
  let logprobs = new Float32Array(continuation.length);
  let offset = 0;
  for (const segment of segments) {
    const length = tokensOf(segment).length;
    if (segment.by === "policy") mask.fill(1, offset, offset + length);
    if (segment.logprobs !== undefined) logprobs.set(segment.logprobs, offset);
    offset += length;
  }
  if (segments.some(lacksLogprobs)) {
    const [recomputed] = await engine.logprobs([{ prompt: promptTokens, continuation }]);
    logprobs = new Float32Array(recomputed);
  }
  return {
    prompt: promptTokens,
    continuation,
    mask,
    weights: new Float32Array(continuation.length).fill(weight),
    logprobs,
  };
}

function lacksLogprobs(segment: Segment): boolean {
  return segment.by === "policy" && segment.logprobs === undefined;
}
