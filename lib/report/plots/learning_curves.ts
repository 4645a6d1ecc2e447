import * as Plot from "@observablehq/plot";
import { formatCount, formatInterval, formatNumber } from "../format_number.ts";
import { oneLine } from "../visible_text.ts";
import { endLabelMargin, endLabels } from "./end_labels.ts";
import {
  bottomAxis,
  DEFAULT_WIDTH,
  domainAround,
  drawFigure,
  type FigureOptions,
  leftAxis,
  leftGrid,
  type LinearScale,
  NARROW,
} from "./frame.ts";
import { seriesColour, seriesDash } from "./palette.ts";

/** An arm at one evaluation, over its seeds. */
export interface CurvePoint {
  /** Rollouts charged to the budget so far. */
  rollouts: number;
  mean: number;
  /** Interval of the mean over seeds; null where it cannot be had. */
  low: number | null;
  high: number | null;
}

/** One seed of an arm. */
export interface SeedCurve {
  seed: number;
  points: readonly { rollouts: number; value: number }[];
}

/** An arm. */
export interface Curve {
  /** Its name in words. */
  label: string;
  /** In the order of rollouts. */
  points: readonly CurvePoint[];
  seeds?: readonly SeedCurve[];
}

/** How to draw learning curves. */
export interface LearningCurvesOptions extends FigureOptions {
  /** With its unit, e.g. `Exact match, greedy (fraction)`. */
  yLabel: string;
  /** Default `Rollouts`. */
  xLabel?: string;
  /** Decimals of the values; default 3. */
  digits?: number;
  /** Values that the metric can take, e.g. [0, 1]; the axis does not go beyond. */
  limits?: readonly [number, number];
}

/**
 * Learning curves: for each arm the mean with its band over seeds, each seed as a thin line, the name and the last value
 * at the end. Nothing is smoothed. Arms differ by colour and by dash.
 *
 * @throws {RangeError} if no curve has a point
 */
export function learningCurves(curves: readonly Curve[], options: LearningCurvesOptions): string {
  const drawn = curves.filter(({ points }) => points.length > 0);
  if (drawn.length === 0) throw new RangeError(`Cannot draw "${options.title}": no curve has a point`);
  const { width = DEFAULT_WIDTH, digits = 3, xLabel = "Rollouts" } = options;
  const isNarrow = width < NARROW;
  const height = isNarrow ? 300 : 380;
  const mostCharacters = isNarrow ? 13 : 34;
  const labels = drawn.map(({ label, points }) =>
    `${formatNumber(points[points.length - 1].mean, digits)} ${oneLine(label)}`
  );
  const margins = {
    marginLeft: 46,
    marginTop: 34,
    marginBottom: 44,
    marginRight: endLabelMargin(labels, mostCharacters),
  };

  const rollouts = drawn.flatMap(({ points, seeds = [] }) =>
    [...points, ...seeds.flatMap((seed) => seed.points)].map((point) => point.rollouts)
  );
  const x: LinearScale = {
    domain: domainAround(rollouts, 0),
    range: [margins.marginLeft, width - margins.marginRight],
  };
  const y: LinearScale = {
    domain: domainAround(shownValues(drawn), 0.06, options.limits),
    range: [height - margins.marginBottom, margins.marginTop],
  };

  return drawFigure(options.title, describe(drawn, digits), {
    width,
    height,
    ...margins,
    x: bottomAxis({ domain: x.domain, label: xLabel, ticks: isNarrow ? 3 : 6, tickFormat: rolloutsText }),
    y: leftAxis(y.domain, options.yLabel),
    marks: [
      leftGrid(),
      ...drawn.flatMap(({ points }, index) =>
        Plot.areaY(points, {
          x: "rollouts",
          y1: (point) => point.low ?? NaN,
          y2: (point) => point.high ?? NaN,
          fill: seriesColour(index),
          fillOpacity: 0.13,
        })
      ),
      ...drawn.flatMap(({ seeds = [] }, index) =>
        seeds.map(({ points }) =>
          Plot.lineY(points, {
            x: "rollouts",
            y: "value",
            stroke: seriesColour(index),
            strokeWidth: 1,
            strokeOpacity: 0.35,
          })
        )
      ),
      ...endLabels(drawn.map(({ points }, index) => lastPoint(points, labels[index], index)), mostCharacters, x, y),
      ...drawn.flatMap(({ points }, index) => [
        Plot.lineY(points, {
          x: "rollouts",
          y: "mean",
          stroke: seriesColour(index),
          strokeWidth: 2.25,
          strokeDasharray: seriesDash(index),
        }),
        Plot.dot(points.slice(-1), {
          x: "rollouts",
          y: "mean",
          fill: seriesColour(index),
          r: 3.5,
          stroke: "var(--paper)",
        }),
      ]),
    ],
  });
}

/** How to read these curves: what is a mean, a band or a seed, as far as there is one. */
export function learningCurvesCaption(curves: readonly Curve[]): string {
  const hasBand = curves.some(({ points }) => points.some(({ low, high }) => low !== null && high !== null));
  const most = Math.max(...curves.map(({ seeds = [] }) => seeds.length));
  if (hasBand) return "Mean over seeds with its 95 % band (t); thin lines are seeds. Nothing is smoothed.";
  return most > 1
    ? "Mean over seeds; thin lines are seeds. Nothing is smoothed."
    : "One seed of each arm, so there is no band. Nothing is smoothed.";
}

function rolloutsText(rollouts: number): string {
  return Math.abs(rollouts) < 1000 ? `${rollouts}` : `${rollouts / 1000}k`;
}

function lastPoint(points: readonly CurvePoint[], text: string, index: number) {
  const { rollouts, mean } = points[points.length - 1];
  return { text, x: rollouts, y: mean, colour: seriesColour(index), dash: seriesDash(index) };
}

function shownValues(curves: readonly Curve[]): number[] {
  return curves.flatMap(({ points, seeds = [] }) => [
    ...points.flatMap(({ mean, low, high }) => [mean, low ?? mean, high ?? mean]),
    ...seeds.flatMap((seed) => seed.points.map(({ value }) => value)),
  ]);
}

function describe(curves: readonly Curve[], digits: number): string {
  return curves.map(({ label, points, seeds = [] }) => {
    const [first, last] = [points[0], points[points.length - 1]];
    const interval = last.low === null || last.high === null
      ? ""
      : ` ${formatInterval({ low: last.low, high: last.high }, digits)}`;
    const over = seeds.length > 0 ? ` over ${seeds.length} seeds` : "";
    return `${oneLine(label)}: from ${formatNumber(first.mean, digits)} to ${
      formatNumber(last.mean, digits)
    }${interval} after ${formatCount(last.rollouts)} rollouts${over}.`;
  }).join(" ");
}
