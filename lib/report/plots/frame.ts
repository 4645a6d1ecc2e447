import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { displayWidth } from "../display_width.ts";
import { escapeHtml } from "../html.ts";
import { paletteProperties } from "./palette.ts";

/** Options that every figure takes. */
export interface FigureOptions {
  /** What the figure is, for who cannot see it and as its tooltip. */
  title: string;
  /** Width in CSS pixels; default 760. Below {@link NARROW} figures lay themselves out for a telephone. */
  width?: number;
}

/** Width of a figure that does not say. */
export const DEFAULT_WIDTH = 760;

/** Figures narrower than this many pixels give less room to labels. */
export const NARROW = 520;

/** Size of the text in figures, in pixels. */
export const FONT_SIZE = 12;

/** One axis: what its values are, and which pixels they stand for. */
export interface LinearScale {
  domain: readonly [number, number];
  range: readonly [number, number];
}

/** The pixel of a value. */
export function toPixel({ domain, range }: LinearScale, value: number): number {
  return range[0] + (value - domain[0]) / (domain[1] - domain[0]) * (range[1] - range[0]);
}

/** The value at a pixel; also outside the axis. */
export function toValue({ domain, range }: LinearScale, pixel: number): number {
  return domain[0] + (pixel - range[0]) / (range[1] - range[0]) * (domain[1] - domain[0]);
}

/** A domain around values, never empty: `padding` of its extent is added at both ends, within `limits`. */
export function domainAround(
  values: readonly number[],
  padding = 0.06,
  limits: readonly [number, number] = [-Infinity, Infinity],
): [number, number] {
  if (values.length === 0) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = high > low ? (high - low) * padding : 0.05;
  return [Math.max(limits[0], low - room), Math.min(limits[1], high + room)];
}

/** How to label an axis. */
export interface AxisOptions {
  domain: readonly [number, number];
  label: string;
  /** About how many ticks. */
  ticks: number;
  tickFormat?: string | ((value: number) => string);
}

/** The horizontal axis of every figure: its label in the middle, no tick marks. */
export function bottomAxis({ domain, label, ticks, tickFormat }: AxisOptions): Plot.ScaleOptions {
  return { domain, label, labelAnchor: "center", labelArrow: "none", ticks, tickSize: 0, tickFormat };
}

/** The vertical axis of figures of values: five ticks without marks, its label above. */
export function leftAxis(domain: readonly [number, number], label: string): Plot.ScaleOptions {
  return { domain, label, labelArrow: "none", ticks: 5, tickSize: 0 };
}

/** The faint lines at the ticks of {@link leftAxis}. */
export function leftGrid(): Plot.Markish {
  return Plot.gridY({ ticks: 5, stroke: "currentColor", strokeOpacity: 0.14 });
}

/** The faint lines at the ticks of {@link bottomAxis}. */
export function bottomGrid(ticks: number): Plot.Markish {
  return Plot.gridX({ ticks, stroke: "currentColor", strokeOpacity: 0.1 });
}

/** An upper estimate of the width of text in a figure, in pixels. */
export function textWidth(text: string, fontSize = FONT_SIZE): number {
  return Math.ceil(displayWidth(text) * fontSize * 0.6);
}

/**
 * Draws marks as one SVG that stands alone: name space, title, description, and colours for light and dark pages.
 *
 * @param description what the figure shows, in sentences with the numbers: the text alternative
 */
export function drawFigure(title: string, description: string, options: Plot.PlotOptions): string {
  const { document } = parseHTML("<!doctype html><body></body>");
  const plot = Plot.plot({
    ...options,
    document: document as unknown as Document,
    style: { fontSize: `${FONT_SIZE}px` },
  });
  plot.removeAttribute("aria-label");
  plot.classList.add("figure-plot");
  const drawn = plot.outerHTML;
  // linkedom leaves < and & in attributes as they are, so the attributes with text of others are written here.
  const name = escapeHtml(title);
  const opening = `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${name}. ${escapeHtml(description)}"`;
  const content = `<title>${name}</title><desc>${escapeHtml(description)}</desc><style>${STYLE}</style>`;
  return drawn.replace(/^<svg/, () => opening).replace(">", () => `>${content}`);
}

const STYLE = [
  `.figure-plot{${
    paletteProperties("light")
  };--plot-background:var(--paper);color:var(--ink);font-family:system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}`,
  `@media(prefers-color-scheme:dark){.figure-plot{${paletteProperties("dark")}}}`,
].join("");
