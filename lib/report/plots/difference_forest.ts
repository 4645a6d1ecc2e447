import * as Plot from "@observablehq/plot";
import { formatDifference, formatInterval, formatNumber } from "../format_number.ts";
import type { Claim } from "../result_table.ts";
import { verdictTone } from "../table_grid.ts";
import { oneLine, shortText } from "../visible_text.ts";
import {
  bottomAxis,
  bottomGrid,
  DEFAULT_WIDTH,
  domainAround,
  drawFigure,
  type FigureOptions,
  FONT_SIZE,
  NARROW,
} from "./frame.ts";

/** How to draw differences. */
export interface DifferenceForestOptions extends FigureOptions {
  /** What the differences are of, with the unit; default `Difference`. */
  xLabel?: string;
}

/** Height of a claim: its text above, its interval below. */
const ROW_HEIGHT = 58;
const NARROW_ROW_HEIGHT = 76;

/**
 * Claims as a forest: for each its contrast, the estimated difference with interval, the paper's own (a diamond), the
 * line of no difference and, dashed, the margin the difference has to pass.
 *
 * @throws {RangeError} if there is no claim
 */
export function differenceForest(claims: readonly Claim[], options: DifferenceForestOptions): string {
  if (claims.length === 0) throw new RangeError(`Cannot draw "${options.title}": there is no claim`);
  const { width = DEFAULT_WIDTH, xLabel = "Difference" } = options;
  const isNarrow = width < NARROW;
  const ticks = isNarrow ? 4 : 8;
  const margins = { marginLeft: 12, marginRight: 16, marginTop: 12, marginBottom: 44 };
  const rowHeight = isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
  const height = margins.marginTop + margins.marginBottom + rowHeight * claims.length;
  const rows = claims.map((claim, row) => ({ ...claim, row, colour: `var(--${verdictTone(claim.verdict)})` }));
  const values = claims.flatMap((
    { estimate, interval, margin, published },
  ) => [0, margin, estimate, interval?.low, interval?.high, published?.value])
    .filter((value) => typeof value === "number");
  const mostCharacters = Math.floor((width - 28) / (FONT_SIZE * 0.6));
  const measured = rows.filter(({ estimate }) => estimate !== null);

  return drawFigure(options.title, claims.map(describe).join(" "), {
    width,
    height,
    ...margins,
    x: bottomAxis({
      domain: domainAround(values, 0.08),
      label: xLabel,
      ticks,
      tickFormat: (value: number) => formatDifference(value, 2),
    }),
    y: { domain: [-0.5, claims.length - 0.5], reverse: true, axis: null },
    marks: [
      bottomGrid(ticks),
      Plot.link(rows, {
        x1: 0,
        x2: 0,
        y1: ({ row }) => row - 0.02,
        y2: ({ row }) => row + 0.42,
        stroke: "currentColor",
        strokeWidth: 1.5,
      }),
      Plot.link(rows, {
        x1: "margin",
        x2: "margin",
        y1: ({ row }) => row - 0.02,
        y2: ({ row }) => row + 0.42,
        stroke: "currentColor",
        strokeWidth: 1.5,
        strokeDasharray: "4 3",
      }),
      Plot.link(measured.filter(({ interval }) => interval !== null), {
        x1: ({ interval }) => interval!.low,
        x2: ({ interval }) => interval!.high,
        y1: ({ row }) => row + 0.2,
        y2: ({ row }) => row + 0.2,
        stroke: "colour",
        strokeWidth: 3,
      }),
      Plot.dot(measured, {
        x: "estimate",
        y: ({ row }) => row + 0.2,
        r: 5.5,
        fill: "colour",
        stroke: "var(--paper)",
        title: describe,
      }),
      Plot.dot(rows.filter(({ published }) => published !== null), {
        x: ({ published }) => published!.value,
        y: ({ row }) => row + 0.2,
        symbol: "diamond",
        r: 5,
        stroke: "currentColor",
        strokeWidth: 1.5,
        fill: "var(--paper)",
      }),
      Plot.text(rows, {
        frameAnchor: "left",
        y: "row",
        dy: -8,
        lineAnchor: "bottom",
        lineHeight: 1.3,
        textAnchor: "start",
        text: (claim) => headline(claim, mostCharacters, isNarrow),
        fill: "currentColor",
        stroke: "var(--paper)",
        strokeWidth: 4,
        title: describe,
      }),
    ],
  });
}

/** The claim's contrast as far as there is room, with its verdict and numbers whole, behind it or on a second line. */
function headline(claim: Claim, mostCharacters: number, isNarrow: boolean): string {
  const contrast = `${oneLine(claim.id)}: ${oneLine(claim.contrast)}`;
  const numbers = claim.estimate === null
    ? claim.verdict.replace("-", " ")
    : `${claim.verdict} ${formatDifference(claim.estimate)} ${formatInterval(claim.interval)}`;
  if (isNarrow) return `${shortText(contrast, mostCharacters)}\n${numbers}`;
  return `${shortText(contrast, Math.max(8, mostCharacters - numbers.length - 3))} · ${numbers}`;
}

function describe({ id, contrast, estimate, interval, margin, verdict, published }: Claim): string {
  const paper = published === null ? "" : `, published ${formatDifference(published.value)}`;
  return `${oneLine(id)}, ${oneLine(contrast)}: ${formatDifference(estimate)} ${formatInterval(interval)}, margin ${
    formatNumber(margin)
  }${paper}: ${verdict}.`;
}
