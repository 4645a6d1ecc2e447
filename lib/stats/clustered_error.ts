import { fSf } from "./f_distribution.ts";
import { mean, sampleVariance } from "./mean.ts";

/** A mean over items that come in clusters, with its standard errors. */
export interface ClusteredError {
  mean: number;
  /** As if items were independent; NaN for one item. */
  independentError: number;
  /** Clusters as units, without small-sample correction (Miller 2024): √Σ_c(Σ_i e_i)² / n. */
  clusterError: number;
  /** With the correction G/(G−1) of a regression on a constant; NaN for one cluster. */
  correctedError: number;
}

/**
 * Standard error of a mean over clustered items (questions on the same passage, games of the same task type).
 *
 * @param clusters the items of each cluster
 * @throws {RangeError} if there are no items
 */
export function clusteredError(clusters: readonly (readonly number[])[]): ClusteredError {
  const items = clusters.flat();
  if (items.length === 0) throw new RangeError("Cannot average over no items");
  const centre = mean(items);
  const sums = clusters.map((cluster) => cluster.reduce((sum, item) => sum + item - centre, 0));
  const clusterError = Math.sqrt(sums.reduce((total, sum) => total + sum ** 2, 0)) / items.length;
  const count = clusters.length;
  return {
    mean: centre,
    independentError: Math.sqrt(sampleVariance(items) / items.length),
    clusterError,
    correctedError: count < 2 ? NaN : clusterError * Math.sqrt(count / (count - 1)),
  };
}

/** How alike items of a cluster are, by one-way analysis of variance. */
export interface IntraclassCorrelation {
  /** Mean square between clusters, and within. */
  betweenSquare: number;
  withinSquare: number;
  /** Size of clusters, averaged for unequal sizes. */
  clusterSize: number;
  /** ICC(1); NaN if nothing varies. */
  correlation: number;
  f: number;
  p: number;
  /** By how much clustering inflates the variance of the mean: 1 + (size − 1)·ICC. */
  designEffect: number;
}

/**
 * ICC(1) of clusters of possibly unequal size.
 *
 * @throws {RangeError} if there are fewer than two clusters, an empty one, or no cluster of two
 */
export function intraclassCorrelation(clusters: readonly (readonly number[])[]): IntraclassCorrelation {
  const items = clusters.flat();
  const freedom = { between: clusters.length - 1, within: items.length - clusters.length };
  if (freedom.between < 1 || freedom.within < 1 || clusters.some((cluster) => cluster.length === 0)) {
    throw new RangeError(
      `Cannot compare ${clusters.length} clusters of ${items.length} items: need two clusters, and two items in one of them`,
    );
  }
  const centre = mean(items);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const betweenSquare = sum(clusters.map((cluster) => cluster.length * (mean(cluster) - centre) ** 2)) /
    freedom.between;
  const withinSquare = sum(clusters.map((cluster) => sum(cluster.map((item) => (item - mean(cluster)) ** 2)))) /
    freedom.within;
  const clusterSize = (items.length - sum(clusters.map((cluster) => cluster.length ** 2)) / items.length) /
    freedom.between;
  const correlation = (betweenSquare - withinSquare) / (betweenSquare + (clusterSize - 1) * withinSquare);
  const f = betweenSquare / withinSquare;
  return {
    betweenSquare,
    withinSquare,
    clusterSize,
    correlation,
    f,
    p: fSf(f, freedom.between, freedom.within),
    designEffect: 1 + (clusterSize - 1) * correlation,
  };
}
