import { expect, test } from "vitest";
import { hashSeed, randomStream, shuffled } from "../../lib/random/stream.ts";

test("randomStream() gives the same numbers for the same name and others for another", () => {
  const draw = (...name: (string | number)[]) => {
    const stream = randomStream(...name);
    return [stream.next(), stream.next(), stream.next()];
  };
  expect(draw(1, "rollout", 3)).toEqual(draw(1, "rollout", 3));
  expect(draw(1, "rollout", 3)).not.toEqual(draw(1, "rollout", 4));
  expect(draw(1, "rollout", 3)).not.toEqual(draw(2, "rollout", 3));
  expect(draw("a", "b")).not.toEqual(draw("ab", ""));
});

test("randomStream() is uniform: chi-square over 64 bins, and first draws of neighbouring names", () => {
  for (const source of [randomStream(7, "uniform").next, neighbours()]) {
    const bins = new Array<number>(64).fill(0);
    for (let i = 0; i < 64_000; i++) bins[Math.floor(source() * 64)]++;
    const chi = bins.reduce((sum, n) => sum + (n - 1000) ** 2 / 1000, 0);
    // 63 degrees of freedom: 0.1 % and 99.9 % quantiles.
    expect(chi).toBeGreaterThan(32);
    expect(chi).toBeLessThan(104);
  }
  function neighbours() {
    let i = 0;
    return () => randomStream(1, "step", i++).next();
  }
});

test("hashSeed() separates its parts", () => {
  expect(hashSeed("a", "bc")).not.toBe(hashSeed("ab", "c"));
  expect(hashSeed(1, 2)).not.toBe(hashSeed(12));
});

test("pick() refuses an empty list", () => {
  expect(() => randomStream(1).pick([])).toThrow(RangeError);
});

test("shuffled() is a permutation and leaves its argument alone", () => {
  const items = Object.freeze([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const result = shuffled(items, randomStream(3, "shuffle"));
  expect(result).not.toEqual(items);
  expect([...result].sort()).toEqual(items);
});
