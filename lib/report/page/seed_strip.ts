import { html, type Markup } from "../html.ts";
import { domainAround, toPixel } from "../plots/frame.ts";
import type { Measurement } from "../result_table.ts";

const WIDTH = 150;
const HEIGHT = 18;

/** The values that strips of one metric span, so that its arms can be compared by eye. */
export function stripDomain(measurements: readonly Measurement[]): [number, number] {
  return domainAround(
    measurements.flatMap(({ mean, interval, seeds }) =>
      [mean, interval?.low, interval?.high, ...seeds.map(({ value }) => value)].filter((value) =>
        typeof value === "number"
      )
    ),
  );
}

/** Seeds as dots over the interval of their mean. The numbers stand beside it, so it is hidden from screen readers. */
export function seedStrip({ mean, interval, seeds }: Measurement, domain: readonly [number, number]): Markup {
  const x = (value: number) => Number(toPixel({ domain, range: [5, WIDTH - 5] }, value).toFixed(1));
  const middle = HEIGHT / 2;
  const rail = html`<line class="rail" x1="0" x2="${WIDTH}" y1="${middle}" y2="${middle}" />`;
  const range = interval &&
    html`<line class="interval" x1="${x(interval.low)}" x2="${x(interval.high)}" y1="${middle}" y2="${middle}" />`;
  const centre = mean !== null && html`<line class="mean" x1="${x(mean)}" x2="${x(mean)}" y1="2" y2="${HEIGHT - 2}" />`;
  const dots = seeds.map(({ value }) => value !== null && html`<circle cx="${x(value)}" cy="${middle}" r="3" />`);
  return html`
    <svg class="strip" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" aria-hidden="true">
      ${rail} ${range} ${centre} ${dots}
    </svg>
  `;
}
