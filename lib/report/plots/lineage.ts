import * as Plot from "@observablehq/plot";
import { formatNumber } from "../format_number.ts";
import { oneLine, shortText } from "../visible_text.ts";
import {
  bottomAxis,
  bottomGrid,
  DEFAULT_WIDTH,
  drawFigure,
  type FigureOptions,
  FONT_SIZE,
  type LinearScale,
  NARROW,
} from "./frame.ts";
import { lineageLanes } from "./lineage_lanes.ts";

/** An instruction (or skill, or template) and where it came from. */
export interface LineageNode {
  id: string;
  text: string;
  /** Step at which it was proposed. */
  born: number;
  /** Step at which it left the population; null if it was there at the end, or never was. */
  died: number | null;
  /** Ids of those it was made from; the first is the one it is drawn under. */
  parents: readonly string[];
  /** Whether it joined the population: it passed verification and found a place. */
  isAccepted: boolean;
  /** In [0, 1]: its last weight, or its verification score; null if it has none. Decides the size of its mark. */
  score: number | null;
  /** Whether the final evaluation read it. */
  isEvaluated?: boolean;
}

/** How to draw a lineage. */
export interface LineageOptions extends FigureOptions {
  /** Last step of the run: where living lines end; default the last step that occurs. */
  lastStep?: number;
  /** What `score` is; default `last weight`. */
  scoreLabel?: string;
  /** Default `Step`. */
  xLabel?: string;
}

const LANE_HEIGHT = 22;
const EVALUATED = "var(--series-1)";

/**
 * A timeline of descent: one lane for each instruction, from the step it was born at to the step it died at, joined to
 * its parent's lane; its id, score and the beginning of its text stand at the right, the whole text in the tooltip.
 *
 * @throws {RangeError} if there is no node, or two have one id
 */
export function lineage(nodes: readonly LineageNode[], options: LineageOptions): string {
  if (nodes.length === 0) throw new RangeError(`Cannot draw "${options.title}": there is no node`);
  const { width = DEFAULT_WIDTH, scoreLabel = "last weight", xLabel = "Step" } = options;
  const isNarrow = width < NARROW;
  const ticks = isNarrow ? 3 : 6;
  const lanes = lineageLanes(nodes);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const steps = nodes.flatMap(({ born, died }) => [born, died ?? born]);
  const [firstStep, lastStep] = [Math.min(...steps), Math.max(options.lastStep ?? -Infinity, ...steps)];

  const marginRight = Math.round(width * (isNarrow ? 0.58 : 0.54));
  const margins = { marginLeft: 14, marginTop: 34, marginBottom: 44, marginRight };
  const height = margins.marginTop + margins.marginBottom + LANE_HEIGHT * nodes.length;
  const x: LinearScale = {
    domain: [firstStep, Math.max(lastStep, firstStep + 1)],
    range: [margins.marginLeft, width - marginRight],
  };
  const textCharacters = Math.floor((marginRight - 20) / (FONT_SIZE * 0.6));
  const laneOf = (node: LineageNode) => lanes.get(node.id)!;
  const endOf = (node: LineageNode) => node.isAccepted ? node.died ?? lastStep : node.born;
  const edges = nodes.flatMap((child) =>
    child.parents.flatMap((id, index) => byId.has(id) ? [{ child, parent: byId.get(id)!, isFirst: index === 0 }] : [])
  );
  const accepted = nodes.filter(({ isAccepted }) => isAccepted);
  const refused = nodes.filter(({ isAccepted }) => !isAccepted);
  const tooltip = (node: LineageNode) =>
    `${oneLine(node.id)} (${node.isAccepted ? "accepted" : "not accepted"}, ${scoreLabel} ${
      formatNumber(node.score)
    }): ${oneLine(node.text)}`;
  const fill = (node: LineageNode) => node.isEvaluated ? EVALUATED : "currentColor";

  return drawFigure(options.title, describe(nodes, scoreLabel), {
    width,
    height,
    ...margins,
    x: bottomAxis({ domain: x.domain, label: xLabel, ticks, tickFormat: "d" }),
    y: { domain: [-0.5, nodes.length - 0.5], reverse: true, axis: null },
    r: { type: "identity" },
    marks: [
      bottomGrid(ticks),
      ...edges.flatMap(({ child, parent, isFirst }) => {
        const stroke = {
          stroke: "currentColor",
          strokeOpacity: isFirst ? 0.45 : 0.25,
          strokeDasharray: isFirst ? undefined : "2 3",
        };
        return [
          // A parent may have died before its child was born: the dotted stretch bridges the time between.
          Plot.link([0], {
            x1: endOf(parent),
            x2: Math.max(child.born, endOf(parent)),
            y1: laneOf(parent),
            y2: laneOf(parent),
            ...stroke,
            strokeDasharray: "1 3",
          }),
          Plot.link([0], { x1: child.born, x2: child.born, y1: laneOf(parent), y2: laneOf(child), ...stroke }),
        ];
      }),
      Plot.link(accepted, {
        x1: "born",
        x2: endOf,
        y1: laneOf,
        y2: laneOf,
        stroke: fill,
        strokeOpacity: (node) => node.died === null ? 0.9 : 0.4,
        strokeWidth: (node) => node.isEvaluated ? 3 : 2,
      }),
      Plot.dot(accepted, {
        x: "born",
        y: laneOf,
        r: (node) => 3 + 4 * (node.score ?? 0),
        fill,
        stroke: "var(--paper)",
        title: tooltip,
      }),
      Plot.dot(accepted.filter(({ died }) => died !== null), {
        x: "died",
        y: laneOf,
        r: 4,
        symbol: "times",
        stroke: "currentColor",
        strokeOpacity: 0.6,
      }),
      Plot.dot(refused, {
        x: "born",
        y: laneOf,
        r: 4.5,
        symbol: "times",
        stroke: "var(--bad)",
        strokeWidth: 2,
        title: tooltip,
      }),
      ...[false, true].map((isEvaluated) =>
        Plot.text(nodes.filter((node) => (node.isEvaluated ?? false) === isEvaluated), {
          frameAnchor: "right",
          y: laneOf,
          dx: 14,
          textAnchor: "start",
          text: (node) =>
            shortText(
              `${shortText(node.id, 12)}  ${formatNumber(node.score, 2)}  ${oneLine(node.text)}`,
              textCharacters,
            ),
          fill: (node) => node.isAccepted ? "currentColor" : "var(--muted)",
          fontWeight: isEvaluated ? 700 : 400,
          title: tooltip,
        })
      ),
      Plot.text([isNarrow ? "Id, score, text" : `Id, ${oneLine(scoreLabel)}, text`], {
        frameAnchor: "top-right",
        dx: 14,
        dy: -20,
        textAnchor: "start",
        fill: "var(--muted)",
      }),
      Plot.text(["Born → died"], { frameAnchor: "top-left", dy: -20, textAnchor: "start", fill: "var(--muted)" }),
    ],
  });
}

function describe(nodes: readonly LineageNode[], scoreLabel: string): string {
  const accepted = nodes.filter(({ isAccepted }) => isAccepted).length;
  const evaluated = nodes.find(({ isEvaluated }) => isEvaluated);
  const final = evaluated === undefined
    ? ""
    : ` The final evaluation read ${oneLine(evaluated.id)} (${scoreLabel} ${formatNumber(evaluated.score)}).`;
  return `${nodes.length} texts, ${accepted} accepted, ${nodes.length - accepted} not.${final}`;
}
