import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { renderHtml } from "../../../lib/report/html.ts";
import { seedStrip, stripRail } from "../../../lib/report/page/seed_strip.ts";
import type { Measurement } from "../../../lib/report/result_table.ts";

function measurement(values: readonly (number | null)[], interval: Measurement["interval"] = null): Measurement {
  const known = values.filter((value) => value !== null);
  const mean = known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
  return { mean, interval, items: null, seeds: values.map((value, seed) => ({ seed, value })) };
}

test.each([
  [[0.31, 0.78], [0, 1], 0],
  [[0.995, 1], [0.994, 1], 3],
  [[0.951, 0.983], [0.95, 0.99], 2],
  [[1, 1], [0, 1], 0],
  [[-0.12, 0.4], [-0.2, 0.4], 1],
  [[3610, 6400], [3000, 7000], 0],
  [[1.25, 1.25], [1.25, 1.3], 2],
  [[null], [0, 1], 0],
])("stripRail() of %j is %j with %i decimals", (values, domain, digits) => {
  expect(stripRail([measurement(values)])).toEqual({ domain, digits });
});

test("stripRail() spans the values, means and intervals of all arms, and its ends are told apart by its decimals", () => {
  for (let exponent = -4; exponent <= 4; exponent++) {
    for (const [low, high] of [[1.3, 1.7], [0.2, 9.9], [-3.3, 2.1], [9.98, 10.01]]) {
      const scale = 10 ** exponent;
      const arms = [measurement([low * scale]), measurement([], { low: low * scale, high: high * scale })];
      const { domain: [first, last], digits } = stripRail(arms);
      expect(first).toBeLessThanOrEqual(low * scale + 1e-9 * scale);
      expect(last).toBeGreaterThanOrEqual(high * scale - 1e-9 * scale);
      expect(Number(first.toFixed(digits))).toBe(first);
      expect(Number(last.toFixed(digits))).toBe(last);
    }
  }
});

test("seedStrip() names the ends of its rail and puts each seed where its value is", () => {
  const strip = renderHtml(seedStrip(measurement([0.2, null, 1]), { domain: [0, 1], digits: 0 }));
  const { document } = parseHTML(`<!doctype html><html><body>${strip}</body></html>`);
  expect([...document.querySelectorAll(".rail-end")].map(({ textContent }) => textContent)).toEqual(["0", "1"]);
  const circles = [...document.querySelectorAll("circle")].map((circle) => Number(circle.getAttribute("cx")));
  expect(circles).toEqual([5 + 0.2 * 140, 145]);
});
