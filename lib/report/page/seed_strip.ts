import { formatNumber } from "../format_number.ts";
import { html, type Markup } from "../html.ts";
import { toPixel } from "../plots/frame.ts";
import type { Measurement } from "../result_table.ts";

/** The values that a strip's rail spans, and how many decimals tell its ends apart. */
export interface StripRail {
  domain: readonly [number, number];
  digits: number;
}

const WIDTH = 150;
const HEIGHT = 18;
/** Shares that differ by more than this, or not at all, are shown on a rail from 0 to 1. */
const WIDE_SPREAD = 0.2;
/** About how many round steps a rail is long. */
const STEPS = 5;

/** One rail for the strips of one metric, so that its arms can be compared by eye: 0 to 1, or round numbers around them. */
export function stripRail(measurements: readonly Measurement[]): StripRail {
  const values = measurements.flatMap(({ mean, interval, seeds }) =>
    [mean, interval?.low, interval?.high, ...seeds.map(({ value }) => value)].filter((value) =>
      typeof value === "number"
    )
  );
  if (values.length === 0) return { domain: [0, 1], digits: 0 };
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const isNarrow = low < high && high - low <= WIDE_SPREAD;
  if (low >= 0 && high <= 1 && !isNarrow) return { domain: [0, 1], digits: 0 };
  return roundRail(low, high);
}

/** The nearest multiples of 1, 2 or 5 × 10ⁿ below and above. */
function roundRail(low: number, high: number): StripRail {
  const rough = (high > low ? high - low : Math.abs(high) / 10 || 1) / STEPS;
  const power = Math.floor(Math.log10(rough));
  const factor = [1, 2, 5].find((each) => each * 10 ** power >= rough) ?? 10;
  const digits = Math.max(0, factor === 10 ? -power - 1 : -power);
  const step = factor * 10 ** power;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  return { domain: [Number((first * step).toFixed(digits)), Number((last * step).toFixed(digits))], digits };
}

/**
 * Seeds as dots over the interval of their mean, on a rail whose ends are named. The values stand under it in words, so
 * it is hidden from screen readers.
 */
export function seedStrip({ mean, interval, seeds }: Measurement, { domain, digits }: StripRail): Markup {
  const x = (value: number) => Number(toPixel({ domain, range: [5, WIDTH - 5] }, value).toFixed(1));
  const middle = HEIGHT / 2;
  const rail = html`<line class="rail" x1="0" x2="${WIDTH}" y1="${middle}" y2="${middle}" />`;
  const range = interval &&
    html`<line class="interval" x1="${x(interval.low)}" x2="${x(interval.high)}" y1="${middle}" y2="${middle}" />`;
  const centre = mean !== null && html`<line class="mean" x1="${x(mean)}" x2="${x(mean)}" y1="2" y2="${HEIGHT - 2}" />`;
  const dots = seeds.map(({ value }) => value !== null && html`<circle cx="${x(value)}" cy="${middle}" r="3" />`);
  return html`
    <div class="strip" aria-hidden="true">
      <span class="rail-end">${formatNumber(domain[0], digits)}</span>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}">
        ${rail} ${range} ${centre} ${dots}
      </svg>
      <span class="rail-end">${formatNumber(domain[1], digits)}</span>
    </div>
  `;
}
