import { expect, test } from "vitest";
import {
  numberUpTo,
  oneOf,
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

test.each(["0", "8000", "65535"])("wholeNumber(0, 65535) takes %j", (text) => {
  expect(wholeNumber(0, 65_535)(text)).toBe(Number(text));
});

test.each(["65536", "-1", "1.5", "many", "", "0x10"])("wholeNumber(0, 65535) refuses %j", (text) => {
  expect(() => wholeNumber(0, 65_535)(text)).toThrow(new UsageError("needs a whole number from 0 to 65535"));
});

test("wholeNumber() refuses what a number cannot hold exactly", () => {
  expect(() => wholeNumber(0)("9007199254740993")).toThrow(new UsageError("needs a whole number of at least 0"));
});

test("numberUpTo() takes 0 and its maximum, and nothing beyond or that is no number", () => {
  expect(["0", "0.75", "1"].map(numberUpTo(1))).toEqual([0, 0.75, 1]);
  for (const text of ["1.01", "-0.1", "", " ", "NaN", "Infinity"]) {
    expect(() => numberUpTo(1)(text)).toThrow(new UsageError("needs a number from 0 to 1"));
  }
  expect(numberUpTo(Infinity)("1e6")).toBe(1e6);
  expect(() => numberUpTo(Infinity)("Infinity")).toThrow(new UsageError("needs a number of at least 0"));
});

test("oneOf() takes its names and refuses others with all of them", () => {
  expect(oneOf("none", "english")("english")).toBe("english");
  expect(() => oneOf("none", "english")("English")).toThrow(new UsageError("needs one of none, english"));
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
