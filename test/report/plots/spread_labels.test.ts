import { expect, test } from "vitest";
import { spreadLabels } from "../../../lib/report/plots/spread_labels.ts";
import { randomStream } from "../../../lib/random/stream.ts";

test("spreadLabels() leaves no overlap and nothing outside, in the wanted order", () => {
  const stream = randomStream("labels");
  for (let round = 0; round < 300; round++) {
    const labels = Array.from(
      { length: 1 + stream.below(8) },
      () => ({ centre: stream.next() * 300 - 20, height: 10 + stream.below(25) }),
    );
    const centres = spreadLabels(labels, 10, 270);
    const order = [...labels.keys()].sort((a, b) => labels[a].centre - labels[b].centre);
    let end = 10;
    for (const index of order) {
      expect(centres[index] - labels[index].height / 2).toBeGreaterThanOrEqual(end - 1e-9);
      end = centres[index] + labels[index].height / 2;
    }
    expect(end).toBeLessThanOrEqual(270 + 1e-9);
  }
});

test("spreadLabels() moves nothing that does not overlap, and two that do by equal amounts", () => {
  expect(spreadLabels([{ centre: 80, height: 10 }, { centre: 20, height: 10 }], 0, 100)).toEqual([80, 20]);
  expect(spreadLabels([{ centre: 50, height: 10 }, { centre: 54, height: 10 }], 0, 100)).toEqual([47, 57]);
});

test("spreadLabels() spreads evenly what cannot fit", () => {
  expect(spreadLabels([40, 50, 60, 70].map((centre) => ({ centre, height: 50 })), 0, 100)).toEqual([
    12.5,
    37.5,
    62.5,
    87.5,
  ]);
});
