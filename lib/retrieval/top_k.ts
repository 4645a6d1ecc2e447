/**
 * The `k` candidates with the largest scores, best first; of equal scores the lower candidate comes first.
 *
 * Keeps the best in a heap whose root is the worst of them: O(n log k), and close to O(n) where k is small.
 *
 * @param scores by candidate
 * @param candidates the first `count` entries are looked at, each one once
 */
export function selectTopK(scores: Float64Array, candidates: Int32Array, count: number, k: number): number[] {
  const isWorse = (a: number, b: number) => scores[a] < scores[b] || (scores[a] === scores[b] && a > b);
  const heap: number[] = [];

  const siftUp = (candidate: number) => {
    let place = heap.length;
    heap.push(candidate);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isWorse(candidate, heap[parent])) break;
      heap[place] = heap[parent];
      place = parent;
    }
    heap[place] = candidate;
  };
  const replaceRoot = (candidate: number) => {
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isWorse(heap[child + 1], heap[child])) child++;
      if (!isWorse(heap[child], candidate)) break;
      heap[place] = heap[child];
      place = child;
    }
    heap[place] = candidate;
  };

  for (let i = 0; i < count; i++) {
    const candidate = candidates[i];
    if (heap.length < k) siftUp(candidate);
    else if (isWorse(heap[0], candidate)) replaceRoot(candidate);
  }
  return heap.sort((a, b) => scores[b] - scores[a] || a - b);
}
