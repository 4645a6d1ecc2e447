import { expect, test } from "vitest";
import {
  drawMember,
  type Member,
  survivorsOf,
  topMember,
  updateWeights,
} from "../../../lib/method/inspo/population.ts";
import { randomStream } from "../../../lib/random/stream.ts";

const members = (...weights: number[]): Member[] =>
  weights.map((weight, index) => ({
    id: `i${index}`,
    text: `w${index}`,
    weight,
    uses: 0,
    born: 0,
    origin: "initial",
    parents: [],
  }));

test("drawMember() draws with the softmax of the weights", () => {
  const population = members(0.1, 0.2, 0.3);
  const stream = randomStream(1, "draw");
  const counts = new Map<string, number>();
  const draws = 30_000;
  for (let i = 0; i < draws; i++) {
    const { id } = drawMember(population, 0.1, stream);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const mass = [1, Math.E, Math.E ** 2];
  const total = mass[0] + mass[1] + mass[2];
  for (const [index, each] of mass.entries()) {
    expect((counts.get(`i${index}`) ?? 0) / draws).toBeCloseTo(each / total, 1.7);
  }
});

test("drawMember() is safe with extreme weights and a population of one, and refuses an empty one", () => {
  expect(drawMember(members(1e6, 0), 1e-3, randomStream(1)).id).toBe("i0");
  expect(drawMember(members(0), 0.1, randomStream(1)).id).toBe("i0");
  expect(() => drawMember([], 0.1, randomStream(1))).toThrow(RangeError);
});

test("topMember() and survivorsOf() prefer the older among equals; 7 members leave 4", () => {
  const population = members(0.5, 0.9, 0.9, 0.1, 0.5, 0.5, 0.2);
  expect(topMember(population).id).toBe("i1");
  expect(survivorsOf(population).map(({ id }) => id)).toEqual(["i1", "i2", "i0", "i4"]);
  expect(survivorsOf(members(0.3)).length).toBe(1);
});

test("updateWeights() is an exponential average of the step's mean reward and leaves unused members alone", () => {
  const [used, unused] = updateWeights(members(0.5, 0.7), new Map([["i0", [1, 0, 1, 1]]]), 0.2);
  expect(used.weight).toBeCloseTo(0.8 * 0.5 + 0.2 * 0.75, 12);
  expect(used.uses).toBe(4);
  expect(unused).toMatchObject({ weight: 0.7, uses: 0 });
});
