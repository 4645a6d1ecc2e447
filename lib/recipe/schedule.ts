/** A task that can be asked to stop. */
export interface Running<Result> {
  result: Promise<Result>;
  stop(): void;
}

/**
 * Runs the items with at most `jobs` at once, in order. After `stop` no new one is started, and those that run are
 * asked to stop; their results are still waited for.
 *
 * @returns results in the order of the items; undefined for items that were never started
 */
export function schedule<Item, Result>(
  items: readonly Item[],
  jobs: number,
  start: (item: Item) => Running<Result>,
): { results: Promise<(Result | undefined)[]>; stop(): void } {
  const queue = items.map((item, index) => ({ item, index }));
  const results = new Array<Result | undefined>(items.length).fill(undefined);
  const running = new Set<Running<Result>>();
  let isStopping = false;
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined && !isStopping; next = queue.shift()) {
      const task = start(next.item);
      running.add(task);
      results[next.index] = await task.result;
      running.delete(task);
    }
  };
  const workers = Array.from({ length: Math.min(jobs, items.length) }, worker);
  return {
    results: Promise.all(workers).then(() => results),
    stop: () => {
      isStopping = true;
      for (const task of running) task.stop();
    },
  };
}
