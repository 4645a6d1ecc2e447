import { betaCdf, betaQuantile } from "../stats/beta_distribution.ts";
import { binomialCdf, binomialProbability } from "../stats/binomial_distribution.ts";
import { chiSquaredSf } from "../stats/chi_squared_distribution.ts";
import { erf, erfc } from "../stats/error_function.ts";
import { fSf } from "../stats/f_distribution.ts";
import { incompleteBeta } from "../stats/incomplete_beta.ts";
import { lowerGamma, upperGamma } from "../stats/incomplete_gamma.ts";
import { logGamma } from "../stats/log_gamma.ts";
import { normalCdf, normalDensity, normalQuantile, normalSf } from "../stats/normal_distribution.ts";
import { tCdf, tQuantile, tSf } from "../stats/t_distribution.ts";
import { UNSUPPORTED } from "./golden_function.ts";

type NumberFunction = (...args: number[]) => number;

/** scipy.stats: `<distribution>.<method>`, called with x and then the distribution's parameters. */
const DISTRIBUTIONS: Readonly<Record<string, NumberFunction>> = {
  "norm.cdf": normalCdf,
  "norm.sf": normalSf,
  "norm.pdf": normalDensity,
  "norm.ppf": normalQuantile,
  "t.cdf": tCdf,
  "t.sf": tSf,
  "t.ppf": tQuantile,
  "beta.cdf": betaCdf,
  "beta.ppf": betaQuantile,
  "binom.cdf": binomialCdf,
  "binom.pdf": binomialProbability,
  "chi2.sf": chiSquaredSf,
  "f.sf": fSf,
};

/** scipy.special. */
const SPECIAL_FUNCTIONS: Readonly<Record<string, NumberFunction>> = {
  gammaln: logGamma,
  erf,
  erfc,
  gammainc: lowerGamma,
  gammaincc: upperGamma,
  betainc: (a, b, x) => incompleteBeta(a, b, x),
  ndtr: normalCdf,
  ndtri: normalQuantile,
};

/** Our value of a distribution's method, or {@link UNSUPPORTED}. */
export function distribution(
  { name, kind, args, x }: { name: string; kind: string; args: number[]; x: number },
): unknown {
  const method = `${name}.${kind}`;
  return Object.hasOwn(DISTRIBUTIONS, method) ? DISTRIBUTIONS[method](x, ...args) : UNSUPPORTED;
}

/** Our value of a special function, or {@link UNSUPPORTED}. */
export function specialFunction({ name, args }: { name: string; args: number[] }): unknown {
  return Object.hasOwn(SPECIAL_FUNCTIONS, name) ? SPECIAL_FUNCTIONS[name](...args) : UNSUPPORTED;
}
