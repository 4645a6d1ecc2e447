import { clusteredError, intraclassCorrelation } from "../stats/clustered_error.ts";
import { holm, holmSidak } from "../stats/holm.ts";
import { mannWhitneyAsymptotic, mannWhitneyExact } from "../stats/mann_whitney.ts";
import { mcnemarChiSquared, mcnemarExact, mcnemarMidP } from "../stats/mcnemar.ts";
import { mean } from "../stats/mean.ts";
import { benjaminiHochberg, bonferroni, hommel } from "../stats/multiple_testing.ts";
import { normalQuantile } from "../stats/normal_distribution.ts";
import { pairedT } from "../stats/paired_t.ts";
import { averageAtK, passAtK } from "../stats/pass_at_k.ts";
import {
  approximateDetectableRise,
  cohenH,
  cohenHPower,
  minimumDetectableH,
  minimumDetectableRise,
  riseOfH,
  twoProportionPower,
} from "../stats/power.ts";
import {
  agrestiCoullInterval,
  clopperPearsonInterval,
  jeffreysInterval,
  waldInterval,
} from "../stats/proportion_intervals.ts";
import { quantile } from "../stats/quantile.ts";
import {
  interquartileMean,
  meanOfTasks,
  meanPerformanceProfile,
  medianOfTasks,
  optimalityGap,
  performanceProfile,
  probabilityOfImprovement,
} from "../stats/reliable_aggregates.ts";
import type { ScoreMatrix } from "../stats/reliable_aggregates.ts";
import { scoreDifference } from "../stats/score_difference.ts";
import { tInterval } from "../stats/t_interval.ts";
import { pairedTost, welchTost } from "../stats/tost.ts";
import type { Tost } from "../stats/tost.ts";
import { tSf } from "../stats/t_distribution.ts";
import {
  agrestiCaffoDifference,
  fisherExact,
  newcombeDifference,
  twoProportionZ,
  waldDifference,
} from "../stats/two_proportions.ts";
import { studentT, welchT } from "../stats/welch_t.ts";
import { wilsonInterval } from "../stats/wilson_interval.ts";
import type { Interval } from "../stats/wilson_interval.ts";
import { readCases } from "./case_file.ts";
import { attempt, OUT_OF_RANGE } from "./difference.ts";
import type { Tolerance, Tolerances } from "./difference.ts";
import type { GoldenCase, GoldenKind } from "./golden.ts";
import { compareFunction, golden } from "./golden_function.ts";
import type { GoldenFunction } from "./golden_function.ts";
import { distribution, specialFunction } from "./stats_distributions.ts";

/** Statistics against scipy 1.17.1, statsmodels 0.15.0, rliable 1.2.0 and numpy 2.4.6 (stats_run.py). */
export const stats: GoldenKind = {
  name: "stats",
  description: "distributions, intervals, tests and aggregates against scipy, statsmodels, rliable and numpy",
  read: readCases,
  compare: (row) => compareFunction(FUNCTIONS, row, toleranceOf(row)),
};

function toleranceOf(row: GoldenCase): Tolerances {
  if (row.fn === "dist" || row.fn === "special") return distributionTolerance(row);
  // statsmodels stops its search for Cohen's h at 1e-5 (brentq_expanding's xtol); the rise follows from it.
  if (row.fn === "mde_two_prop") {
    return (what) => what === "cohen_h" || what === "h_d" ? { relative: 0, absolute: 1e-5 } : USUAL;
  }
  return USUAL;
}

const USUAL: Tolerance = { relative: 1e-9, absolute: 1e-12 };

/** Relative to the value itself, however small: 1e-10 in the body, 1e-6 in far tails. */
function distributionTolerance({ args, expected }: GoldenCase): Tolerance {
  const isInTail = (value: unknown) =>
    typeof value === "number" && (Math.abs(value) < 1e-8 || Math.abs(1 - value) < 1e-8);
  const isFar = args.kind === "ppf" ? isInTail(args.x) : isInTail(expected);
  return { relative: isFar ? 1e-6 : 1e-10, absolute: 1e-300 };
}

const FUNCTIONS: Readonly<Record<string, GoldenFunction>> = {
  dist: golden(distribution),
  special: golden(specialFunction),

  proportion_ci: golden<{ k: number; n: number; alpha: number }>(({ k, n, alpha }) => ({
    wilson: ends(() => wilsonInterval(k, n, normalQuantile(1 - alpha / 2))),
    clopper_pearson: ends(() => clopperPearsonInterval(k, n, 1 - alpha)),
    jeffreys: ends(() => jeffreysInterval(k, n, 1 - alpha)),
    agresti_coull: ends(() => agrestiCoullInterval(k, n, 1 - alpha)),
    normal: ends(() => waldInterval(k, n, 1 - alpha)),
  })),

  t_interval: golden<{ x: number[]; conf: number }>(({ x, conf }) => {
    const { mean, standardError, degreesOfFreedom, low, high } = tInterval(x, conf);
    return { mean, sem: standardError, df: degreesOfFreedom, ci: [low, high] };
  }),

  paired_t: golden<TwoSamples & { conf: number }>(({ a, b, conf }) => {
    const { difference, t, degreesOfFreedom, p, low, high } = pairedT(a, b, conf);
    return { diff: difference, t, df: degreesOfFreedom, p, ci: [low, high] };
  }),

  welch_t: golden<TwoSamples & { conf: number }>(({ a, b, conf }) => {
    const welch = welchT(a, b, conf);
    const student = attempt(() => studentT(a, b, conf));
    return {
      diff: welch.difference,
      t: welch.t,
      df: welch.degreesOfFreedom,
      p: welch.p,
      ci: [welch.low, welch.high],
      p_greater: tSf(welch.t, welch.degreesOfFreedom),
      student_t: student === OUT_OF_RANGE ? student : student.t,
      student_p: student === OUT_OF_RANGE ? student : student.p,
    };
  }),

  tost_welch: golden<TwoSamples & Margin>(({ a, b, low, upp }) => tostParts(welchTost(a, b, { low, high: upp }))),
  tost_paired: golden<TwoSamples & Margin>(({ a, b, low, upp }) => tostParts(pairedTost(a, b, { low, high: upp }))),

  multiple: golden<{ p: number[]; alpha: number }>(({ p, alpha }) => {
    const methods = { holm, bonferroni, fdr_bh: benjaminiHochberg, "holm-sidak": holmSidak, hommel };
    return Object.fromEntries(
      Object.entries(methods).map(([name, adjust]) => {
        const adjusted = adjust(p);
        return [name, { p_adj: adjusted, reject: adjusted.map((value) => value <= alpha) }];
      }),
    );
  }),

  mcnemar: golden<{ b: number; c: number }>(({ b, c }) => {
    const parts = (continuity: boolean) => {
      const { statistic, p } = mcnemarChiSquared(b, c, continuity);
      return [statistic, p];
    };
    return {
      exact: mcnemarExact(b, c),
      midp_2cdf_minus_pmf: mcnemarMidP(b, c, "double"),
      midp_fagerland: mcnemarMidP(b, c, "fagerland"),
      chi2_cc: parts(true),
      chi2: parts(false),
    };
  }),

  mann_whitney: golden<TwoSamples>(({ a, b }) =>
    Object.fromEntries((["two-sided", "less", "greater"] as const).flatMap((alternative) => {
      const exact = mannWhitneyExact(a, b, alternative);
      const asymptotic = mannWhitneyAsymptotic(a, b, alternative);
      return [[`exact_${alternative}`, [exact.u, exact.p]], [`asymptotic_${alternative}`, [
        asymptotic.u,
        asymptotic.p,
      ]]];
    }))
  ),

  two_prop: golden<{ k1: number; n1: number; k2: number; n2: number }>(({ k1, n1, k2, n2 }) => {
    const first = { successes: k1, trials: n1 };
    const second = { successes: k2, trials: n2 };
    return {
      ...twoProportionZ(first, second),
      wald: ends(() => waldDifference(first, second)),
      "agresti-caffo": ends(() => agrestiCaffoDifference(first, second)),
      newcomb: ends(() => newcombeDifference(first, second)),
      score: ends(() => scoreDifference(first, second, { variant: "statsmodels" })),
      fisher_p: fisherExact(first, second),
    };
  }),

  power_two_prop: golden<{ p1: number; p2: number; n1: number; n2: number; alpha: number }>((
    { p1, p2, n1, n2, alpha },
  ) => ({
    wald_power: twoProportionPower(p1, p2, { trials: [n1, n2], alpha }),
    cohen_h: cohenH(p1, p2),
    h_power: cohenHPower(cohenH(p1, p2), { trials: [n1, n2], alpha }),
  })),

  mde_two_prop: golden<{ p: number; n1: number; n2: number; alpha: number; power: number }>(
    ({ p, n1, n2, alpha, power }) => {
      const design = { trials: [n1, n2] as const, alpha };
      const h = minimumDetectableH(power, design);
      return {
        d: minimumDetectableRise(p, power, design),
        cohen_h: h,
        h_d: riseOfH(p, h),
        simple_d: approximateDetectableRise(p, power, design),
      };
    },
  ),

  pass_at_k: golden<{ n: number; c: number; k: number }>(({ n, c, k }) => passAtK(n, c, k)),

  avg_at_k: golden<{ correct: number[]; k: number }>(({ correct, k }) => {
    const { mean, questionError, rerunError, withinVariance, betweenVariance } = averageAtK(correct, k);
    return {
      mean,
      se_questions: questionError,
      se_rerun: rerunError,
      within: withinVariance,
      between: betweenVariance,
    };
  }),

  clustered_se: golden<{ groups: number[][] }>(({ groups }) => {
    const { mean: centre, independentError, clusterError, correctedError } = clusteredError(groups);
    const items = groups.flat();
    return {
      mean: centre,
      se_iid: Math.sqrt(mean(items.map((item) => (item - centre) ** 2)) / items.length),
      se_iid_ddof1: independentError,
      miller: clusterError,
      cluster_nocorr: clusterError,
      cluster_corr: correctedError,
    };
  }),

  icc_oneway: golden<{ groups: number[][] }>(({ groups }) => {
    const { betweenSquare, withinSquare, clusterSize, correlation, f, p, designEffect } = intraclassCorrelation(groups);
    return {
      msb: betweenSquare,
      msw: withinSquare,
      k0: clusterSize,
      icc1: correlation,
      F: f,
      p,
      design_effect: designEffect,
    };
  }),

  aggregates: golden<{ scores: ScoreMatrix; gamma: number }>(({ scores, gamma }) => ({
    iqm: interquartileMean(scores),
    mean: meanOfTasks(scores),
    median: medianOfTasks(scores),
    optimality_gap: optimalityGap(scores, gamma),
  })),

  performance_profile: golden<{ scores: ScoreMatrix; taus: number[] }>(({ scores, taus }) => ({
    run_score: performanceProfile(scores, taus),
    mean_score: meanPerformanceProfile(scores, taus),
  })),

  prob_improvement: golden<{ x: ScoreMatrix; y: ScoreMatrix }>(({ x, y }) => {
    const probability = probabilityOfImprovement(x, y);
    return { rliable: probability, formula: probability };
  }),

  quantile: golden<{ x: number[]; q: number[] }>(({ x, q }) => q.map((share) => quantile(x, share))),
};

interface TwoSamples {
  a: number[];
  b: number[];
}

interface Margin {
  low: number;
  upp: number;
}

function ends(interval: () => Interval): unknown {
  const result = attempt(interval);
  return result === OUT_OF_RANGE ? result : [result.low, result.high];
}

function tostParts({ p, lower, upper, degreesOfFreedom, interval }: Tost): unknown {
  return {
    p,
    lower: { ...lower, df: degreesOfFreedom },
    upper: { ...upper, df: degreesOfFreedom },
    ci90: [interval.low, interval.high],
  };
}
