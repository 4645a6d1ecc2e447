import { expect, test } from "vitest";
import {
  parseArguments,
  positiveNumber,
  seedList,
  unknownName,
  UsageError,
  wholeNumber,
} from "../../lib/recipe/command_line.ts";

const flags = {
  scale: { help: "", parse: (text: string) => text },
  jobs: { help: "", parse: wholeNumber(1) },
  json: { help: "" },
};

test("parseArguments() reads words, values in both forms and switches", () => {
  expect(parseArguments(["inspo", "--scale", "micro", "--jobs=3", "--json"], flags)).toEqual({
    words: ["inspo"],
    flags: { scale: "micro", jobs: 3, json: true },
  });
});

test.each([
  [["--scael", "micro"], /unknown flag "--scael"; did you mean --scale\? There are: --scale, --jobs, --json/],
  [["--jobs", "0"], /--jobs "0": needs a whole number of at least 1/],
  [["--jobs", "1e3"], /--jobs "1e3"/],
  [["--jobs"], /--jobs needs a value/],
  [["--scale", "--json"], /--scale needs a value/],
  [["--json=1"], /--json takes no value/],
  [["--jobs", "1", "--jobs", "2"], /--jobs is given twice/],
  [["--constructor", "1"], /unknown flag "--constructor"/],
])("parseArguments() refuses %j with one line that says why", (args, message) => {
  expect(() => parseArguments(args, flags)).toThrow(UsageError);
  expect(() => parseArguments(args, flags)).toThrow(message);
});

test("seedList() reads a count, a list and a range", () => {
  expect(seedList("3")).toEqual([1, 2, 3]);
  expect(seedList("7,9")).toEqual([7, 9]);
  expect(seedList("7..7")).toEqual([7]);
  expect(seedList("4..6")).toEqual([4, 5, 6]);
});

test.each(["", "0", "-1", "a", "1,", "5..3", "2,2", "1.5", "1..999999999", "3,99999999999"])(
  "seedList() refuses %j",
  (text) => {
    expect(() => seedList(text)).toThrow(UsageError);
  },
);

test("positiveNumber() refuses everything that is not a number above 0", () => {
  expect(positiveNumber("0.5")).toBe(0.5);
  for (const text of ["", " ", "0", "-1", "NaN", "Infinity", "ten"]) {
    expect(() => positiveNumber(text)).toThrow(UsageError);
  }
});

test("unknownName() suggests only what is near", () => {
  expect(unknownName("recipe", "inspoo", ["inspo", "p2o"])).toContain("did you mean inspo?");
  expect(unknownName("recipe", "zzzzzz", ["inspo", "p2o"])).not.toContain("did you mean");
});
