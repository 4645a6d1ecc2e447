import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";
import { differenceForest } from "../../../lib/report/plots/difference_forest.ts";
import { learningCurves, learningCurvesCaption } from "../../../lib/report/plots/learning_curves.ts";
import { lineage } from "../../../lib/report/plots/lineage.ts";
import { populationWeights } from "../../../lib/report/plots/population_weights.ts";
import { oneLine, visibleText } from "../../../lib/report/visible_text.ts";
import { claims, curves, HOSTILE, nodes, weights } from "../fixture.ts";

const evil = `${HOSTILE.breakout} ${HOSTILE.script} ${HOSTILE.invisible}`;
const hostileCurves = curves.map((curve) => ({ ...curve, label: evil }));
const hostileWeights = weights.map((line) => ({ ...line, text: evil }));
const hostileClaims = claims.claims.map((claim) => ({ ...claim, contrast: evil }));

const figures: [string, (width: number, title: string) => string][] = [
  [
    "learningCurves()",
    (width, title) => learningCurves(hostileCurves, { title, width, yLabel: "Exact match (fraction)" }),
  ],
  [
    "populationWeights()",
    (width, title) => populationWeights(hostileWeights, { title, width, evaluation: [{ step: 0, id: "i2" }] }),
  ],
  ["lineage()", (width, title) => lineage(nodes, { title, width })],
  ["differenceForest()", (width, title) => differenceForest(hostileClaims, { title, width })],
];

function parse(svg: string) {
  return parseHTML(`<!doctype html><html><body>${svg}</body></html>`).document.querySelector("body > svg")!;
}

describe.each(figures)("%s", (_name, draw) => {
  test.each([860, 360])("is one accessible SVG of %i px that stands alone", (width) => {
    const svg = draw(width, "A title");
    const root = parse(svg);
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" role="img" aria-label="A title\. /);
    expect(root.getAttribute("width")).toBe(`${width}`);
    expect(root.querySelector(":scope > title")!.textContent).toBe("A title");
    expect(root.querySelector(":scope > desc")!.textContent).toMatch(/\d\.\d{3}/);
    expect(svg).toContain("prefers-color-scheme:dark");
    expect(svg).toContain("currentColor");
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });

  test("keeps hostile text as text", () => {
    const svg = draw(860, evil);
    const body = parseHTML(`<!doctype html><html><body>${svg}</body></html>`).document.body;
    expect(body.children).toHaveLength(1);
    expect(body.querySelectorAll("script, img, foreignObject, [onload], [onerror]")).toHaveLength(0);
    expect(body.querySelector("svg > title")!.textContent).toBe(visibleText(evil));
    // XML readers refuse < and & in attributes; what is no tag must hold no < either.
    const tags = /<\/?\w+(?:\s+[\w:-]+="[^"<]*")*\s*\/?>/g;
    expect(svg.replace(tags, "")).not.toContain("<");
    expect(svg).not.toMatch(/&(?!\w+;|#\d+;)/);
  });
});

test("learningCurves() names each curve with its last value and draws its seeds", () => {
  const root = parse(learningCurves(curves, { title: "t", yLabel: "y" }));
  const texts = [...root.querySelectorAll("text")].map(({ textContent }) => textContent);
  const last = curves[0].points.at(-1)!.mean.toFixed(3);
  expect(texts).toContain(`${last} INSPO`);
  expect(root.querySelectorAll("[aria-label=line]")).toHaveLength(3 + 9);
  expect(root.querySelectorAll("[aria-label=area]")).toHaveLength(3);
  expect(
    new Set(
      [...root.querySelectorAll("[aria-label=line][stroke-dasharray]")].map((line) =>
        line.getAttribute("stroke-dasharray")
      ),
    ).size,
  ).toBe(2);
});

test("learningCurves() draws a curve of one point without interval", () => {
  const svg = learningCurves([{ label: "one", points: [{ rollouts: 0, mean: 0.5, low: null, high: null }] }], {
    title: "t",
    yLabel: "y",
  });
  expect(svg).toContain("0.500 one");
  expect(svg).not.toContain("NaN");
  expect(() => learningCurves([], { title: "t", yLabel: "y" })).toThrow(RangeError);
});

test("learningCurvesCaption() speaks of a band and of seeds only where they are drawn", () => {
  expect(learningCurvesCaption(curves)).toBe(
    "Mean over seeds with its 95 % band (t); thin lines are seeds. Nothing is smoothed.",
  );
  const bare = curves.map((curve) => ({
    ...curve,
    points: curve.points.map((point) => ({ ...point, low: null, high: null })),
  }));
  expect(learningCurvesCaption(bare)).toBe("Mean over seeds; thin lines are seeds. Nothing is smoothed.");
  const one = bare.map((curve) => ({ ...curve, seeds: curve.seeds?.slice(0, 1) }));
  expect(learningCurvesCaption(one)).toBe("One seed of each arm, so there is no band. Nothing is smoothed.");
});

test("populationWeights() marks the members that left and the one evaluation read", () => {
  const root = parse(
    populationWeights(weights, { title: "t", evaluation: [{ step: 0, id: "i0" }, { step: 30, id: "i4" }] }),
  );
  const texts = [...root.querySelectorAll("text")].map((text) => text.childNodes[0]?.textContent);
  expect(texts.filter((text) => /^i\d \d\.\d{3}$/.test(text ?? ""))).toHaveLength(4);
  expect(root.querySelectorAll("[aria-label=dot] path")).toHaveLength(4);
  expect(root.querySelector("desc")!.textContent).toContain("4 left the population before. Evaluation last read i4.");
});

test("lineage() draws one mark for each node, with its whole text as tooltip", () => {
  const root = parse(lineage(nodes, { title: "t" }));
  const tooltips = [...root.querySelectorAll("text > title")].map(({ textContent }) => textContent);
  expect(tooltips).toHaveLength(nodes.length);
  for (const { text } of nodes) expect(tooltips.some((tooltip) => tooltip!.endsWith(oneLine(text)))).toBe(true);
  const refused = nodes.filter(({ isAccepted }) => !isAccepted).length;
  expect(tooltips.filter((tooltip) => tooltip!.includes("(not accepted, "))).toHaveLength(refused);
  expect(root.querySelector("desc")!.textContent).toContain(`${nodes.length - refused} accepted, ${refused} not.`);
  expect(() => lineage([], { title: "t" })).toThrow(RangeError);
});

test("differenceForest() states each claim's verdict and numbers", () => {
  const text = parse(differenceForest(claims.claims, { title: "t" })).textContent!;
  expect(text).toContain("supported +0.056 [0.031, 0.081]");
  expect(text).toContain("contradicted −0.060 [−0.085, −0.035]");
  expect(text).toContain("not run");
});
