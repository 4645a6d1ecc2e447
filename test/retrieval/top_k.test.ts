import { expect, test } from "vitest";
import { randomStream, shuffled } from "../../lib/random/stream.ts";
import { selectTopK } from "../../lib/retrieval/top_k.ts";

test("selectTopK() gives the beginning of a full sort, ties by the lower candidate", () => {
  const stream = randomStream("top_k.test");
  for (let round = 0; round < 200; round++) {
    const n = 1 + stream.below(60);
    const scores = Float64Array.from({ length: n }, () => stream.below(8));
    const candidates = Int32Array.from(shuffled([...scores.keys()], stream));
    const count = stream.below(n + 1);
    const sorted = [...candidates.subarray(0, count)].sort((a, b) => scores[b] - scores[a] || a - b);
    for (const k of [1, 2, 3, 10, 100]) expect(selectTopK(scores, candidates, count, k)).toEqual(sorted.slice(0, k));
  }
});
