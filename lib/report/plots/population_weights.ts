import * as Plot from "@observablehq/plot";
import { formatNumber } from "../format_number.ts";
import { oneLine, shortText } from "../visible_text.ts";
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
  textWidth,
  toPixel,
} from "./frame.ts";

/** The weight of an instruction (or skill, or template) while it was in the population. */
export interface WeightLine {
  id: string;
  /** Its full text, shown as tooltip. */
  text: string;
  /** In the order of steps. */
  points: readonly { step: number; weight: number }[];
}

/** How to draw weights. */
export interface PopulationWeightsOptions extends FigureOptions {
  /** Which instruction evaluation read, from each of these steps on. */
  evaluation?: readonly { step: number; id: string }[];
  /** Default `Weight`. */
  yLabel?: string;
  /** Default `Step`. */
  xLabel?: string;
}

const EVALUATED = "var(--series-1)";

/**
 * Weights of a population over steps: one line for each member, named at its end. A line that ends early with a cross
 * left the population; the line that evaluation read is thick and coloured where it was read.
 *
 * @throws {RangeError} if no line has a point
 */
export function populationWeights(lines: readonly WeightLine[], options: PopulationWeightsOptions): string {
  const drawn = lines.filter(({ points }) => points.length > 0);
  if (drawn.length === 0) throw new RangeError(`Cannot draw "${options.title}": no line has a point`);
  const { width = DEFAULT_WIDTH, evaluation = [], yLabel = "Weight", xLabel = "Step" } = options;
  const isNarrow = width < NARROW;
  const height = isNarrow ? 300 : 380;
  const mostCharacters = isNarrow ? 12 : 22;
  const steps = drawn.flatMap(({ points }) => points.map(({ step }) => step));
  const lastStep = Math.max(...steps);
  const alive = drawn.filter((line) => endOf(line).step === lastStep);
  const dead = drawn.filter((line) => endOf(line).step < lastStep);
  const finalId = [...evaluation].sort((a, b) => a.step - b.step).at(-1)?.id;
  const labels = alive.map((line) => `${shortText(line.id, 20)} ${formatNumber(endOf(line).weight)}`);
  const margins = {
    marginLeft: 46,
    marginTop: 34,
    marginBottom: 44,
    marginRight: endLabelMargin(labels, mostCharacters),
  };

  const x: LinearScale = { domain: domainAround(steps, 0), range: [margins.marginLeft, width - margins.marginRight] };
  const weights = drawn.flatMap(({ points }) => points.map(({ weight }) => weight));
  const y: LinearScale = { domain: domainAround(weights), range: [height - margins.marginBottom, margins.marginTop] };
  const colourOf = (id: string) => id === finalId ? EVALUATED : "currentColor";
  const named = labelledDead(dead, x, y);

  return drawFigure(options.title, describe(alive, dead, finalId), {
    width,
    height,
    ...margins,
    x: bottomAxis({ domain: x.domain, label: xLabel, ticks: isNarrow ? 4 : 8 }),
    y: leftAxis(y.domain, yLabel),
    marks: [
      leftGrid(),
      ...dead.map((line) => weightLine(line, 0.35, 1.25)),
      ...endLabels(
        alive.map((line, index) => ({
          text: labels[index],
          x: lastStep,
          y: endOf(line).weight,
          colour: colourOf(line.id),
          isStrong: line.id === finalId,
        })),
        mostCharacters,
        x,
        y,
      ),
      ...alive.map((line) => weightLine(line, 0.75, 1.75)),
      Plot.dot(dead, {
        x: (line) => endOf(line).step,
        y: (line) => endOf(line).weight,
        symbol: "times",
        r: 3.5,
        stroke: "currentColor",
        strokeOpacity: 0.7,
      }),
      ...evaluatedStretches(drawn, evaluation, lastStep).map((points) =>
        points.length === 1
          ? Plot.dot(points, { x: "step", y: "weight", fill: EVALUATED, r: 4 })
          : Plot.lineY(points, { x: "step", y: "weight", stroke: EVALUATED, strokeWidth: 3.5 })
      ),
      Plot.text(named, {
        x: (line) => endOf(line).step,
        y: (line) => endOf(line).weight,
        dx: 6,
        text: (line) => shortText(line.id, 12),
        textAnchor: "start",
        fill: "var(--muted)",
        stroke: "var(--paper)",
        strokeWidth: 3,
      }),
    ],
  });
}

function weightLine(line: WeightLine, opacity: number, strokeWidth: number): Plot.Markish {
  return Plot.lineY(line.points, {
    x: "step",
    y: "weight",
    z: null,
    stroke: "currentColor",
    strokeOpacity: opacity,
    strokeWidth,
    title: () => `${oneLine(line.id)}: ${oneLine(line.text)}`,
  });
}

/** The pieces of lines that evaluation read. */
function evaluatedStretches(
  lines: readonly WeightLine[],
  evaluation: readonly { step: number; id: string }[],
  lastStep: number,
) {
  const ordered = [...evaluation].sort((a, b) => a.step - b.step);
  return ordered.flatMap(({ step, id }, index) => {
    const until = ordered[index + 1]?.step ?? lastStep;
    const points = lines.find((line) =>
      line.id === id
    )?.points.filter((point) => point.step >= step && point.step <= until) ?? [];
    return points.length > 0 ? [points] : [];
  });
}

/** Those whose name has room where they end; the others keep their tooltip. The last to die are named first. */
function labelledDead(dead: readonly WeightLine[], x: LinearScale, y: LinearScale): WeightLine[] {
  const taken: { left: number; right: number; centre: number }[] = [];
  return [...dead].sort((a, b) => endOf(b).step - endOf(a).step).filter((line) => {
    const left = toPixel(x, endOf(line).step);
    const box = { left, right: left + 10 + textWidth(shortText(line.id, 12)), centre: toPixel(y, endOf(line).weight) };
    if (box.right > x.range[1] + 10) return false;
    if (
      taken.some((other) =>
        other.left < box.right && box.left < other.right && Math.abs(other.centre - box.centre) < 13
      )
    ) return false;
    taken.push(box);
    return true;
  });
}

function endOf({ points }: WeightLine): { step: number; weight: number } {
  return points[points.length - 1];
}

function describe(alive: readonly WeightLine[], dead: readonly WeightLine[], finalId: string | undefined): string {
  const ranked = [...alive].sort((a, b) => endOf(b).weight - endOf(a).weight);
  const final = ranked.map((line) => `${oneLine(line.id)} ${formatNumber(endOf(line).weight)}`).join(", ");
  const read = finalId === undefined ? "" : ` Evaluation last read ${oneLine(finalId)}.`;
  return `At the end, by weight: ${final}. ${dead.length} left the population before.${read}`;
}
