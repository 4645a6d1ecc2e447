import * as Plot from "@observablehq/plot";
import { wrapText } from "../display_width.ts";
import { oneLine } from "../visible_text.ts";
import { FONT_SIZE, type LinearScale, textWidth, toPixel, toValue } from "./frame.ts";
import { spreadLabels } from "./spread_labels.ts";

/** The name of a line, beside its end. */
export interface EndLabel {
  text: string;
  /** Where the line ends, in data units. */
  x: number;
  y: number;
  colour: string;
  dash?: string;
  isStrong?: boolean;
}

const LINE_HEIGHT = FONT_SIZE * 1.2;
const LEADER = 14;
const SAMPLE = 20;
const GAP = 5;

/** Room that end labels need right of the plot, in pixels. */
export function endLabelMargin(texts: readonly string[], mostCharacters: number): number {
  const lines = texts.flatMap((text) => labelLines(text, mostCharacters));
  return LEADER + SAMPLE + GAP + Math.max(0, ...lines.map((line) => textWidth(line))) + 4;
}

/** Labels right of the plot that do not overlap, each with a sample of its line and a leader to where the line ends. */
export function endLabels(
  labels: readonly EndLabel[],
  mostCharacters: number,
  x: LinearScale,
  y: LinearScale,
): Plot.Markish[] {
  const texts = labels.map(({ text }) => labelLines(text, mostCharacters));
  const wanted = labels.map((label, index) => ({
    centre: toPixel(y, label.y),
    height: texts[index].length * LINE_HEIGHT + 4,
  }));
  const centres = spreadLabels(wanted, y.range[1] - 8, y.range[0] + 8);
  const right = x.range[1];
  return labels.flatMap((label, index) => {
    const at = toValue(y, centres[index]);
    const [start, end] = [toValue(x, right + LEADER), toValue(x, right + LEADER + SAMPLE)];
    return [
      Plot.link([0], {
        x1: label.x,
        y1: label.y,
        x2: start,
        y2: at,
        stroke: label.colour,
        strokeOpacity: 0.45,
        strokeWidth: 1,
      }),
      Plot.link([0], {
        x1: start,
        y1: at,
        x2: end,
        y2: at,
        stroke: label.colour,
        strokeWidth: label.isStrong ? 3 : 2,
        strokeDasharray: label.dash,
      }),
      Plot.text([0], {
        x: end,
        y: at,
        dx: GAP,
        text: () => texts[index].join("\n"),
        textAnchor: "start",
        lineHeight: LINE_HEIGHT / FONT_SIZE,
        fontWeight: label.isStrong ? 700 : 400,
        fill: "currentColor",
      }),
    ];
  });
}

/** At most three lines of a label. */
function labelLines(text: string, mostCharacters: number): string[] {
  const lines = wrapText(oneLine(text), mostCharacters);
  return lines.length <= 3 ? lines : [...lines.slice(0, 2), `${lines[2].slice(0, mostCharacters - 1)}…`];
}
