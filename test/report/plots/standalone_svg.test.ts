import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { learningCurves } from "../../../lib/report/plots/learning_curves.ts";
import { standaloneSvg } from "../../../lib/report/plots/standalone_svg.ts";

test("standaloneSvg() brings colours and background along and stays one SVG element", () => {
  const points = [{ rollouts: 0, mean: 0.1, low: null, high: null }, {
    rollouts: 10,
    mean: 0.9,
    low: null,
    high: null,
  }];
  const svg = standaloneSvg(learningCurves([{ label: "inspo", points }], { title: "t", yLabel: "EM" }));
  const { document } = parseHTML(`<html><body>${svg}</body></html>`);
  expect(document.querySelectorAll("body > svg").length).toBe(1);
  const styles = [...document.querySelectorAll("style")].map((style) => style.textContent).join("");
  expect(styles).toContain("background:var(--paper)");
  expect(styles).toMatch(/--paper:#/);
});
