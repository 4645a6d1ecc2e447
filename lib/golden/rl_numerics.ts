import { adaptKlCoefficient } from "../method/numerics/adaptive_kl.ts";
import { aggregateLoss } from "../method/numerics/aggregate_loss.ts";
import type { AggregationOptions, LossAggregation } from "../method/numerics/aggregate_loss.ts";
import { discountedReturns } from "../method/numerics/discounted_returns.ts";
import { generalizedAdvantage } from "../method/numerics/generalized_advantage.ts";
import { gigpoAdvantages, stepGroups } from "../method/numerics/gigpo_advantage.ts";
import { groupAdvantages } from "../method/numerics/group_advantage.ts";
import { klPenalty } from "../method/numerics/kl_penalty.ts";
import type { KlEstimator } from "../method/numerics/kl_penalty.ts";
import { leaveOneOutAdvantages } from "../method/numerics/leave_one_out.ts";
import { labelLogprob, softmaxEntropy } from "../method/numerics/logits.ts";
import { maskedMean, maskedVariance, maskedWhiten } from "../method/numerics/masked_statistics.ts";
import { ppoLoss } from "../method/numerics/ppo_loss.ts";
import { valueLoss } from "../method/numerics/value_loss.ts";
import { readCases } from "./case_file.ts";
import type { GoldenKind } from "./golden.ts";
import { compareFunction, golden } from "./golden_function.ts";
import type { GoldenFunction } from "./golden_function.ts";

/** Algorithms of reinforcement learning against verl 0.9.1, verl-agent and torch in float64 (rl_run.py). */
export const rlNumerics: GoldenKind = {
  name: "rl-numerics",
  description: "advantages, losses, gradients and KL estimators against verl, verl-agent and torch",
  read: readCases,
  // verl-agent computes returns in float32.
  compare: (row) =>
    compareFunction(
      FUNCTIONS,
      row,
      row.fn === "gigpo" ? { relative: 1e-5, absolute: 1e-5 } : { relative: 1e-9, absolute: 1e-9 },
    ),
};

type Rows = number[][];
type Key = string | number;

const AGGREGATIONS: readonly LossAggregation[] = [
  "token-mean",
  "seq-mean-token-sum",
  "seq-mean-token-mean",
  "seq-mean-token-sum-norm",
  "token-sum",
];
const ESTIMATORS: readonly KlEstimator[] = ["k1", "abs", "k2", "k3", "k1+", "k3+"];

const FUNCTIONS: Readonly<Record<string, GoldenFunction>> = {
  grpo: golden<{ rewards: Rows; mask: Rows; index: Key[]; norm_std: boolean; eps?: number }>((
    { rewards, mask, index, norm_std, eps },
  ) => ({
    advantages: onTokens(
      byGroup(rewards.map(sum), index, (group) => groupAdvantages(group, { normalizeByStd: norm_std, epsilon: eps })),
      mask,
    ),
  })),

  rloo: golden<{ rewards: Rows; mask: Rows; index: Key[] }>(({ rewards, mask, index }) => ({
    advantages: onTokens(byGroup(rewards.map(sum), index, leaveOneOutAdvantages), mask),
  })),

  gae: golden<{ rewards: Rows; values: Rows; mask: Rows; gamma: number; lam: number }>(
    ({ rewards, values, mask, gamma, lam }) => {
      const { advantages, whitened, returns } = generalizedAdvantage(rewards, values, mask, gamma, lam);
      return { advantages_raw: advantages, advantages_whitened: whitened, returns };
    },
  ),

  ppo_loss: golden<{ old: Rows; new: Rows; adv: Rows; mask: Rows; low: number; high: number; c: number }>((args) => {
    const batch = { oldLogprobs: args.old, logprobs: args.new, advantages: args.adv, mask: args.mask };
    const options = { clipLow: args.low, clipHigh: args.high, dualClip: args.c };
    const results = AGGREGATIONS.map((aggregation) =>
      [aggregation, ppoLoss(batch, { ...options, aggregation })] as const
    );
    const [, { clipFraction, dualClipFraction, approximateKl }] = results[0];
    return {
      ...Object.fromEntries(
        results.map(([aggregation, { loss, gradient }]) => [aggregation, { loss, grad_log_prob: gradient }]),
      ),
      pg_clipfrac: clipFraction,
      pg_clipfrac_lower: dualClipFraction,
      ppo_kl: approximateKl,
    };
  }),

  agg_loss: golden<{ mat: Rows; mask: Rows; kw: AggregationKeywords }>(({ mat, mask, kw }) =>
    Object.fromEntries(
      AGGREGATIONS.map((aggregation) => [aggregation, aggregateLoss(mat, mask, aggregation, aggregationOptions(kw))]),
    )
  ),

  kl: golden<{ lp: Rows; ref: Rows }>(({ lp, ref }) =>
    Object.fromEntries(ESTIMATORS.map((estimator) => {
      const penalties = lp.map((row, i) => row.map((logprob, j) => klPenalty(logprob, ref[i][j], estimator)));
      return [estimator, {
        value: penalties.map((row) => row.map(({ value }) => value)),
        grad_of_sum: penalties.map((row) => row.map(({ gradient }) => gradient)),
      }];
    }))
  ),

  value_loss: golden<{ vpreds: Rows; returns: Rows; values: Rows; mask: Rows; clip: number }>(
    ({ vpreds, returns, values, mask, clip }) => {
      const { loss, clipFraction } = valueLoss({ predictions: vpreds, returns, oldValues: values, mask }, clip);
      return { vf_loss: loss, vf_clipfrac: clipFraction };
    },
  ),

  masked_stats: golden<{ x: Rows; mask: Rows }>(({ x, mask }) => ({
    mean: maskedMean(x, mask),
    var: maskedVariance(x, mask),
    whiten: maskedWhiten(x, mask),
    whiten_noshift: maskedWhiten(x, mask, false),
  })),

  adaptive_kl: golden<{ init: number; target: number; horizon: number; updates: [kl: number, samples: number][] }>(
    (args) => {
      let coefficient = args.init;
      return args.updates.map(([kl, samples]) => coefficient = adaptKlCoefficient(coefficient, kl, samples, args));
    },
  ),

  logits: golden<{ x: number[][][]; labels: Rows }>(({ x, labels }) => ({
    logprobs: x.map((row, i) => row.map((logits, j) => labelLogprob(logits, labels[i][j]))),
    entropy: x.map((row) => row.map(softmaxEntropy)),
  })),

  gigpo: golden<GigpoArguments>((args) => {
    const returns = discountedReturns(args.step_rewards, args.traj, args.gamma, args.active);
    const steps = { episodeRewards: args.token_rewards.map(sum), returns, tasks: args.index, anchors: args.anchors };
    const options = {
      stepWeight: args.w,
      similarity: args.sim ?? undefined,
      normalizeByStd: args.mode !== "mean_norm",
    };
    const { advantages, episodeAdvantages } = gigpoAdvantages(steps, options);
    return {
      returns_float32: returns,
      step_groups: stepGroups(args.anchors, args.index, options.similarity),
      episode_advantages: onTokens(episodeAdvantages, args.mask),
      advantages: onTokens(advantages, args.mask),
    };
  }),
};

interface AggregationKeywords {
  dp_size?: number;
  batch_num_tokens?: number;
  global_batch_size?: number;
  loss_scale_factor?: number;
}

interface GigpoArguments {
  token_rewards: Rows;
  step_rewards: number[];
  mask: Rows;
  anchors: string[];
  index: string[];
  traj: string[];
  gamma: number;
  active: number[];
  w: number;
  mode: "mean_norm" | "mean_std_norm";
  sim?: number | null;
}

function aggregationOptions(kw: AggregationKeywords): AggregationOptions {
  return {
    workers: kw.dp_size,
    batchTokens: kw.batch_num_tokens,
    batchSequences: kw.global_batch_size,
    lossScale: kw.loss_scale_factor,
  };
}

/** veRL's tensors: the advantage of a row on each of its unmasked tokens. */
function onTokens(advantages: readonly number[], mask: Rows): Rows {
  return mask.map((row, index) => row.map((unmasked) => unmasked * advantages[index]));
}

function byGroup(
  rewards: readonly number[],
  index: readonly Key[],
  advantagesOf: (group: number[]) => number[],
): number[] {
  const groups = Map.groupBy(index.keys(), (row) => index[row]);
  const advantages = new Array<number>(rewards.length).fill(0);
  for (const rows of groups.values()) {
    for (const [position, advantage] of advantagesOf(rows.map((row) => rewards[row])).entries()) {
      advantages[rows[position]] = advantage;
    }
  }
  return advantages;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
