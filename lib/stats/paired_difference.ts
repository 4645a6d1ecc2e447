import type { RandomStream } from "../random/stream.ts";
import { mean } from "./mean.ts";
import { pairedDifferences } from "./paired_t.ts";
import { sortedQuantile } from "./quantile.ts";

/** A difference of means over the same items, with a bootstrap interval. */
export interface PairedDifference {
  /** Mean of `first[i] − second[i]`. */
  difference: number;
  low: number;
  high: number;
  /** Two-sided: twice the smaller share of resampled differences at or beyond 0, at most 1. */
  p: number;
}

/** How to resample. */
export interface BootstrapOptions {
  stream: RandomStream;
  /** Default 10 000. */
  resamples?: number;
  confidence?: number;
}

/**
 * Paired bootstrap over shared items: is one arm's score higher on the same panel?
 *
 * Resamples items, so it speaks about new items for these two policies; it knows nothing of training seeds.
 *
 * @param first scores of the first arm, one for each item
 * @param second scores of the second arm on the same items in the same order
 * @throws {RangeError} if the samples differ in length or are empty
 */
export function pairedDifference(
  first: readonly number[],
  second: readonly number[],
  options: BootstrapOptions,
): PairedDifference {
  const { stream, resamples = 10_000, confidence = 0.95 } = options;
  const differences = pairedDifferences(first, second);
  if (differences.length === 0) throw new RangeError("Cannot compare two arms on no items");
  const means = resampledMeans(differences, resamples, stream);
  const share = (isBeyond: (value: number) => boolean) => means.filter(isBeyond).length / resamples;
  const p = Math.min(1, 2 * Math.min(share((value) => value <= 0), share((value) => value >= 0)));
  means.sort();
  const tail = (1 - confidence) / 2;
  return { difference: mean(differences), low: sortedQuantile(means, tail), high: sortedQuantile(means, 1 - tail), p };
}

/**
 * Means of resamples with replacement, in the order drawn.
 *
 * @param values at least one
 * @returns `[resamples]`
 */
export function resampledMeans(values: readonly number[], resamples: number, stream: RandomStream): Float64Array {
  const means = new Float64Array(resamples);
  for (let index = 0; index < resamples; index++) {
    let total = 0;
    for (let draw = 0; draw < values.length; draw++) total += values[stream.below(values.length)];
    means[index] = total / values.length;
  }
  return means;
}
