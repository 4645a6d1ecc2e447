import { wilsonInterval } from "../stats/wilson_interval.ts";
import { UsageError } from "./command_line.ts";
import type { CheckpointScore } from "./recipe.ts";
import type { ReproduceOptions } from "./reproduce_options.ts";

/**
 * `--evaluate`: scores a checkpoint on the scale's panels, without training and without records.
 *
 * @throws {UsageError} if the scale cannot
 */
export async function evaluateCheckpoint({ scale, evaluate, seeds, isJson }: ReproduceOptions): Promise<string> {
  if (scale.evaluate === undefined || evaluate === null) {
    throw new UsageError(`--evaluate: scale ${scale.name} has no weights to score`);
  }
  const results: CheckpointScore[] = [];
  for (const seed of seeds) results.push(await scale.evaluate(evaluate, seed));
  return isJson ? JSON.stringify(results, null, 2) : results.map(describe).join("\n");
}

function describe({ seed, weights, instruction, scores }: CheckpointScore): string {
  const head = `seed ${seed}: weights ${weights.slice(0, 12)}, instruction ${JSON.stringify(instruction)}`;
  const lines = scores.map(({ panel, decoding, n, successes }) => {
    const { low, high } = wilsonInterval(successes, n);
    return `  ${panel}, ${decoding}: EM ${(successes / n).toFixed(3)} [${low.toFixed(3)}, ${
      high.toFixed(3)
    }] (Wilson, ${successes} of ${n})`;
  });
  return [head, ...lines].join("\n");
}
