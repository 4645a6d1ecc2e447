import { expect, test } from "vitest";
import { canonicalJson, exactJson, hashConfig } from "../../lib/record/canonical_json.ts";

test("canonicalJson() gives RFC 8785's example of section 3.2.2", () => {
  const value = {
    numbers: [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    literals: [null, true, false],
  };
  expect(canonicalJson(value)).toBe(
    String
      .raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test("canonicalJson() sorts keys as RFC 8785, section 3.2.3", () => {
  const value = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
  };
  const order = [...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map(([, name]) => name.split(" ")[0]);
  expect(order).toEqual(["Carriage", "One", "Control", "Latin", "Euro", "Emoji:", "Hebrew"]);
});

test("hashConfig() is the SHA-256 that sha256sum prints for the canonical text", () => {
  // printf '{"a":1,"b":[true,null]}' | sha256sum
  const expected = "1cc69c7fa23616ca2ec3ee70d24390a6225c8832db8a4c814c7e0e7f942f8668";
  expect(hashConfig({ b: [true, null], a: 1 })).toBe(expected);
});

test("hashConfig() ignores the order of keys and undefined properties, at any depth", () => {
  const one = { arm: "grpo", settings: { clip: { low: 0.2, high: 0.3 }, klCoef: undefined } };
  const other = { settings: { clip: { high: 0.3, low: 0.2 } }, arm: "grpo" };
  expect(hashConfig(one)).toBe(hashConfig(other));
});

test("hashConfig() changes with any value and with the order of a list", () => {
  const hashes = [{ a: [1, 2] }, { a: [2, 1] }, { a: ["1", 2] }, { a: [1, 2], b: null }, { a: [[1], 2] }].map(
    hashConfig,
  );
  expect(new Set(hashes).size).toBe(hashes.length);
});

test.each([
  ["NaN", { settings: { lr: NaN } }, ".settings.lr"],
  ["a Map", { settings: [new Map()] }, ".settings[0]"],
  ["a bigint", { seed: 1n }, ".seed"],
  ["a typed array", { weights: new Float32Array(2) }, ".weights"],
  ["a hole in a list", { list: [undefined] }, ".list[0]"],
])("canonicalJson() refuses %s and says where it is", (_, value, place) => {
  expect(() => canonicalJson(value)).toThrow(TypeError);
  expect(() => canonicalJson(value)).toThrow(`Cannot write ${place} as JSON`);
});

test("exactJson() keeps the order of keys, which decides the order of iteration after a resume", () => {
  const state = { z: 1, a: { y: 2, b: undefined, x: [0.1 + 0.2] } };
  expect(exactJson(state)).toBe(JSON.stringify(state));
  expect(() => exactJson({ weight: Infinity })).toThrow(TypeError);
});
