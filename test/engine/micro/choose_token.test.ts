import { expect, test } from "vitest";
import { drawIndex, keepNucleus, largestIndex } from "../../../lib/engine/micro/choose_token.ts";

test("largestIndex() is the lowest index among equals, relative to its start", () => {
  expect(largestIndex([9, 1, 3, 3, 2], 1, 4)).toBe(1);
  expect(largestIndex([-5, -5], 0, 2)).toBe(0);
});

test("drawIndex() inverts the distribution function", () => {
  const probabilities = [9, 0.25, 0, 0.5, 0.25];
  const draws = [0, 0.24, 0.25, 0.74, 0.75, 0.999].map((uniform) => drawIndex(probabilities, 1, 4, uniform));
  expect(draws).toEqual([0, 0, 2, 2, 3, 3]);
});

test("drawIndex() falls back on the most probable index, not the last, where rounding leaves a gap at the end", () => {
  expect(drawIndex(Float32Array.of(0.3, 0.6999998, 0), 0, 3, 1 - 2 ** -32)).toBe(1);
});

test("drawIndex() never gives an index of probability 0", () => {
  expect(drawIndex([0, 0, 1], 0, 3, 0)).toBe(2);
});

test("keepNucleus() keeps the fewest most probable entries that reach the mass, the lower index on ties", () => {
  const probabilities = Float32Array.of(0.125, 0.25, 0.125, 0.5);
  const kept = (topP: number) => {
    const copy = probabilities.slice();
    return [keepNucleus(copy, 0, 4, topP), ...copy];
  };
  expect(kept(0.01)).toEqual([0.5, 0, 0, 0, 0.5]);
  expect(kept(0.5)).toEqual([0.5, 0, 0, 0, 0.5]);
  expect(kept(0.6)).toEqual([0.75, 0, 0.25, 0, 0.5]);
  expect(kept(0.8)).toEqual([0.875, 0.125, 0.25, 0, 0.5]);
  expect(kept(1)).toEqual([1, ...probabilities]);
});
