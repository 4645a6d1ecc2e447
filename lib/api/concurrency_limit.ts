/** Runs a task as soon as a place is free; waiting tasks start in the order they came. */
export type RunLimited = <T>(task: () => Promise<T>) => Promise<T>;

/**
 * Lets at most `limit` tasks run at a time.
 *
 * @throws {RangeError} if `limit` is not a whole number of at least 1
 */
export function concurrencyLimit(limit: number): RunLimited {
  if (!Number.isInteger(limit) || limit < 1) {
    throw new RangeError(`Cannot run ${limit} calls at a time: need a whole number of at least 1`);
  }
  let free = limit;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      // The place goes straight to the first in the queue, so that a newcomer cannot overtake it.
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
