import { expect, test } from "vitest";
import { UsageError } from "../../lib/recipe/command_line.ts";
import { reproduceOptions } from "../../lib/recipe/reproduce_options.ts";
import { recipe } from "../../recipes/inspo/recipe.ts";

const options = (...args: string[]) => reproduceOptions(recipe, args, 3);

test("reproduceOptions() without flags takes the recipe's own choices and the machine's cores", () => {
  const { micro } = recipe.scales;
  expect(options()).toMatchObject({
    scale: micro,
    arms: micro.defaultArms,
    seeds: micro.defaultSeeds,
    jobs: 3,
    out: "results",
    isPlan: false,
    isFresh: false,
    isJson: false,
    isGrid: false,
  });
});

test("reproduceOptions() reads every value into its place", () => {
  expect(
    options(
      "--arms=inspo,search-r1-grpo",
      "--seeds",
      "2..4",
      "--jobs",
      "1",
      "--rollouts",
      "640",
      "--reflector",
      "replay:calls",
      "--record",
      "calls",
      "--max-cost",
      "1.5",
      "--max-calls",
      "7",
      "--price",
      "0.15,0.60",
      "--out",
      "elsewhere",
      "--json",
    ),
  ).toMatchObject({
    arms: ["inspo", "search-r1-grpo"],
    seeds: [2, 3, 4],
    jobs: 1,
    out: "elsewhere",
    isJson: true,
    overrides: { rollouts: 640, reflector: "replay:calls" },
    run: { reflector: "replay:calls", recordFile: "calls", maxCostUsd: 1.5, maxCalls: 7, price: [0.15, 0.6] },
  });
});

test("reproduceOptions() --arms all means every arm of the scale", () => {
  expect(options("--arms", "all").arms).toEqual(Object.keys(recipe.scales.micro.arms));
});

test("reproduceOptions() --grid takes the grid's own arms and seeds unless they are given", () => {
  const { grid } = recipe.scales.micro;
  expect(options("--grid")).toMatchObject({ isGrid: true, arms: grid?.arms, seeds: grid?.seeds });
  expect(options("--grid", "--seeds", "1")).toMatchObject({ isGrid: true, arms: grid?.arms, seeds: [1] });
});

test.each([
  [["--scale", "mirco"], /unknown scale "mirco"; did you mean micro\?/],
  [["--scale", "constructor"], /unknown scale "constructor"/],
  [["--arms", "insop"], /unknown arm "insop"; did you mean inspo\?/],
  [["--arms", "inspo,"], /unknown arm ""/],
  [["--arms", "inspo,inspo"], /names an arm twice/],
  [["--seeds", "0"], /--seeds "0": needs N/],
  [["--seeds", "3..1"], /--seeds "3\.\.1": needs N/],
  [["--jobs", "0"], /--jobs "0": needs a whole number of at least 1/],
  [["--rollouts", "-5"], /--rollouts/],
  [["--reflector", "gpt"], /unknown reflector "gpt"/],
  [["--reflector", "replay:"], /unknown reflector "replay:"/],
  [["--price", "1"], /--price "1": needs two prices/],
  [["--price", "1,-2"], /needs two prices/],
  [["--max-cost", "0"], /needs a number greater than 0/],
  [["--out", ""], /--out "": needs a value that is not empty/],
  [["--scale", "api", "--grid"], /scale api of inspo has no grid/],
  [["--plan", "--fresh"], /--fresh has no meaning/],
  [["--plan", "--plan"], /--plan is given twice/],
  [["rsipo"], /unexpected "rsipo"/],
])("reproduceOptions(%j) is a usage error of one line", (args, message) => {
  expect(() => options(...args)).toThrow(UsageError);
  expect(() => options(...args)).toThrow(message);
  expect(() => options(...args)).not.toThrow(/\n/);
});
