import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Aggregation } from "../../../../lib/engine/engine.ts";
import { createArena } from "../../../../lib/engine/micro/arena.ts";
import { loadWasmKernels } from "../../../../lib/engine/micro/kernels_wasm.ts";
import { aggregate, tokenWeights } from "../../../../lib/engine/micro/losses/aggregate.ts";
import { ppoTokens } from "../../../../lib/engine/micro/losses/ppo.ts";
import { k3Tokens } from "../../../../lib/engine/micro/losses/reference_kl.ts";
import { weightedNllTokens } from "../../../../lib/engine/micro/losses/weighted_nll.ts";
import { readShared, testWithShared } from "../../../shared.ts";

interface Golden {
  id: string;
  fn: string;
  // deno-lint-ignore no-explicit-any -- every function has its own arguments and results
  args: any;
  // deno-lint-ignore no-explicit-any
  expected: any;
}

const MODES: readonly Aggregation[] = ["token-mean", "seq-mean-token-mean"];

test("token losses agree with veRL and torch on the golden selection", () => {
  const { cases } = JSON.parse(readFileSync("test/golden/rl_numerics.json", "utf8")) as { cases: Golden[] };
  expect(compareAll(cases)).toBeGreaterThan(15);
});

testWithShared("token losses agree with veRL and torch on all golden cases", ["golden/rl_numerics.json"], () => {
  const { cases } = JSON.parse(readShared("golden/rl_numerics.json")) as { cases: Golden[] };
  expect(compareAll(cases)).toBe(41);
});

function compareAll(cases: Golden[]): number {
  const compare: Record<string, (golden: Golden) => void> = {
    ppo_loss: comparePpo,
    kl: compareKl,
    agg_loss: compareAggregation,
    logits: compareLogits,
  };
  const known = cases.filter(({ fn }) => fn in compare);
  for (const golden of known) compare[golden.fn](golden);
  return known.length;
}

function comparePpo({ id, args, expected }: Golden): void {
  const { old, new: current, adv, mask, low, high, c } = args;
  const { loss, gradient, ratio, isClipped, isDualClipped } = ppoTokens(flat(current), flat(old), flat(adv), {
    clipLow: low,
    clipHigh: high,
    dualClip: c,
  });
  for (const mode of MODES) {
    const weights = tokenWeights(mask, mode);
    expectClose(aggregate(loss, weights), expected[mode].loss, id);
    const scaled = gradient.map((g, t) => weights.weights[t] === 0 ? 0 : g * weights.weights[t] / weights.denominator);
    expectAllClose(scaled, expected[mode].grad_log_prob, id);
  }
  const perToken = tokenWeights(mask, "token-mean");
  // veRL's masked_mean adds 1e-8 to the count.
  const masked = (values: ArrayLike<number>) => aggregate(values, perToken) / (1 + 1e-8 / perToken.denominator);
  expectClose(masked(isClipped), expected.pg_clipfrac, id);
  expectClose(masked(isDualClipped), expected.pg_clipfrac_lower, id);
  expectClose(masked(ratio.map((rho) => -Math.log(rho))), expected.ppo_kl, id);
}

function compareKl({ id, args, expected }: Golden): void {
  const { loss, gradient } = k3Tokens(flat(args.lp), flat(args.ref));
  expectAllClose(loss, expected.k3.value, id);
  expectAllClose(gradient, expected.k3.grad_of_sum, id);
}

function compareAggregation({ id, args, expected }: Golden): void {
  if ("global_batch_size" in args.kw) return; // divides by the counts of a larger batch
  for (const mode of MODES) {
    const value = aggregate(flat(args.mat), tokenWeights(args.mask, mode));
    // Ours is 0 where nothing is in the loss; veRL divides 0 by 0.
    expectClose(value, expected[mode] === "NaN" ? 0 : expected[mode], id);
  }
}

/** Float32 kernels: rows are padded to the width that they need with logits of no weight. */
function compareLogits({ id, args, expected }: Golden): void {
  const kernels = loadWasmKernels();
  const arena = createArena(kernels.memory, kernels.heapBase);
  const rows: number[][] = args.x.flat();
  const columns = Math.ceil(rows[0].length / 8) * 8;
  const [logits, entropy] = [arena.take(rows.length * columns), arena.take(rows.length)];
  for (const [i, row] of rows.entries()) {
    arena.f32.fill(-1e30, (logits >> 2) + i * columns, (logits >> 2) + (i + 1) * columns);
    arena.f32.set(row, (logits >> 2) + i * columns);
  }
  kernels.logSoftmax(logits, entropy, rows.length, columns, 1);
  const labels = flat(args.labels);
  const [logprobs, entropies] = [flat(expected.logprobs), flat(expected.entropy)];
  for (let i = 0; i < rows.length; i++) {
    expectClose(arena.f32[(logits >> 2) + i * columns + labels[i]], logprobs[i], id, 2e-6);
    expectClose(arena.f32[(entropy >> 2) + i], entropies[i], id, 2e-6);
  }
}

test("ppoTokens() at ratio 1 has the policy gradient −A", () => {
  const { gradient, loss } = ppoTokens([-1, -2], [-1, -2], [0.5, -3], { clipLow: 0.2, clipHigh: 0.2, dualClip: 3 });
  expect([...gradient]).toEqual([-0.5, 3]);
  expect([...loss]).toEqual([-0.5, 3]);
});

test("ppoTokens() without dual clip bounds nothing; log-ratios are clamped to ±20 and then flat", () => {
  const { loss, gradient } = ppoTokens([0, 100], [-2, 0], [-1, -1], { clipLow: 0.2, clipHigh: 0.2 });
  expect(loss[0]).toBeCloseTo(Math.exp(2), 12);
  expect(gradient[0]).toBeCloseTo(Math.exp(2), 12);
  expect([loss[1], gradient[1]]).toEqual([Math.exp(20), 0]);
});

test("weightedNllTokens() is −weight · ℓ with derivative −weight", () => {
  const { loss, gradient } = weightedNllTokens([-1, -2, -3], [1, -0.5, 0]);
  expect([...loss]).toEqual([1, -1, 0]);
  expect([...gradient]).toEqual([-1, 0.5, -0]);
});

test("tokenWeights() of parts add up to the whole", () => {
  for (const mode of MODES) {
    const whole = tokenWeights([[1, 0, 1], [0, 0], [1, 1]], mode);
    const [a, b] = [tokenWeights([[1, 0, 1], [0, 0]], mode), tokenWeights([[1, 1]], mode)];
    expect([...a.weights, ...b.weights]).toEqual([...whole.weights]);
    expect(a.denominator + b.denominator).toBe(whole.denominator);
  }
});

function flat(rows: number[][]): number[] {
  return rows.flat();
}

function expectAllClose(actual: ArrayLike<number>, expected: number[][], id: string): void {
  expect(actual.length, id).toBe(flat(expected).length);
  for (const [i, value] of flat(expected).entries()) expectClose(actual[i], value, id);
}

function expectClose(actual: number, expected: number, id: string, tolerance = 1e-9): void {
  expect(Math.abs(actual - expected), id).toBeLessThanOrEqual(tolerance * Math.max(1, Math.abs(expected)));
}
