import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { goldenCommand } from "../lib/golden/command.ts";
import { attempt, firstDifference, OUT_OF_RANGE } from "../lib/golden/difference.ts";
import { compareGolden } from "../lib/golden/golden.ts";
import type { GoldenCase, GoldenKind } from "../lib/golden/golden.ts";
import { GOLDEN_KINDS } from "../lib/golden/kinds.ts";
import { goldenPath } from "./golden/agreement.ts";
import { SHARED, testWithShared } from "./shared.ts";

const run = (...args: string[]) => goldenCommand(args, GOLDEN_KINDS);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "golden-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const SELECTIONS = [["qa-em", "qa_em.jsonl"], ["rl-numerics", "rl_numerics.json"], ["stats", "stats.json"]] as const;

test.each(SELECTIONS)("golden %s agrees on every supported row of the selection", async (kind, file) => {
  const { lines, exitCode } = await run(kind, goldenPath(file));
  expect(lines[0]).toMatch(new RegExp(`^${kind}: agree (\\d+) of \\1, \\d+ not supported$`));
  expect(exitCode).toBe(0);
});

const WHOLE = [
  ["qa-em", "golden/qa_em.jsonl", 185],
  ["rl-numerics", "golden/rl_numerics.json", 130],
  ["stats", "golden/stats.json", 1114],
  ["searchr1-rollouts", "data/qa/searchr1_rollouts_bamboogle_base.jsonl", 125],
] as const;
for (const [kind, path, rows] of WHOLE) {
  testWithShared(`golden ${kind} agrees on every supported row of ${path}`, [path], async () => {
    const { lines, exitCode } = await run(kind, join(SHARED, path));
    const [, agree, total] = lines[0].match(/agree (\d+) of (\d+),/)!.map(Number);
    expect(total).toBeGreaterThanOrEqual(rows);
    expect(agree).toBe(total);
    expect(exitCode).toBe(0);
  });
}

test("golden stats names the functions it does not support, with their counts", async () => {
  const unknown = [1, 2, 3].map((id) => `{"id":"n${id}","fn":"no_such_test","args":{},"expected":1}`);
  const known = `{"id":"k","fn":"pass_at_k","args":{"n":2,"c":0,"k":1},"expected":0}`;
  const { lines, exitCode } = await run("stats", write("unknown.json", `{"cases":[${[...unknown, known]}]}`));
  expect(lines).toEqual(["stats: agree 1 of 1, 3 not supported", "not supported: no_such_test (3)"]);
  expect(exitCode).toBe(0);
});

test("golden exits 1 and shows the row where a wrong value is planted in a JSON file", async () => {
  const text = readFileSync(goldenPath("rl_numerics.json"), "utf8");
  const planted = text.replace(/("fn":"adaptive_kl".*?"expected":\[)[^,\]]+/, "$10.123");
  expect(planted).not.toBe(text);
  const { lines, exitCode } = await run("rl-numerics", write("planted.json", planted));
  expect(exitCode).toBe(1);
  expect(lines.join("\n")).toMatch(/rl\d+ adaptive_kl \[0\]: expected 0\.123, ours /);
});

test("golden exits 1 where a wrong value is planted in a JSON Lines file", async () => {
  const text = readFileSync(goldenPath("qa_em.jsonl"), "utf8");
  const { lines, exitCode } = await run("qa-em", write("planted.jsonl", text.replace('"em": 1', '"em": 0')));
  expect(exitCode).toBe(1);
  expect(lines[0]).toBe("qa-em: agree 184 of 185, 0 not supported");
  expect(lines).toContain("qa000 pair own.em: expected 0, ours 1");
});

test("golden exits 1 where nothing could be compared", async () => {
  const path = write("nothing.json", '{"cases":[{"id":"a","fn":"no_such_test","args":{},"expected":1}]}');
  expect(await run("stats", path)).toMatchObject({ exitCode: 1 });
});

test("golden leaves out rows that are marked flaky or contested", async () => {
  const row = (id: string, extra: string) =>
    `{"id":"${id}","fn":"pass_at_k","args":{"n":2,"c":0,"k":1},"expected":${extra}}`;
  const path = write(
    "marked.json",
    `{"cases":[${row("a", "0")},${row("b", '9,"flaky":true')},${row("c", '9,"contested":true')}]}`,
  );
  const { lines, exitCode } = await run("stats", path);
  expect(lines).toEqual(["stats: agree 1 of 1, 0 not supported", "left out as flaky or contested: 2"]);
  expect(exitCode).toBe(0);
});

describe("golden exits 2 with one line", () => {
  const cases: [title: string, args: () => string[], line: RegExp][] = [
    ["without arguments", () => [], /^Usage: .*kinds: qa-em, rl-numerics, searchr1-rollouts, stats/],
    [
      "for an unknown kind",
      () => ["nonsense", goldenPath("stats.json")],
      /^Unknown kind of golden file "nonsense"; kinds: qa-em, /,
    ],
    [
      "for a missing file",
      () => ["stats", join(folder, "missing.json")],
      /^Cannot compare with .*missing\.json" as stats: ENOENT/,
    ],
    [
      "for a file that is not JSON",
      () => ["stats", write("broken.json", "{")],
      /as stats: Cannot read the golden file: it is not JSON/,
    ],
    ["for another kind's file", () => ["stats", goldenPath("qa_em.jsonl")], /as stats: Cannot read the golden file/],
    [
      "for a row without its fields",
      () => ["qa-em", write("row.jsonl", '{"kind":"pair","id":"a"}')],
      /line 1 of the golden file: prediction/,
    ],
    ["for an empty file", () => ["qa-em", write("empty.jsonl", "\n")], /Cannot read the golden file: it is empty/],
  ];
  test.each(cases)("%s", async (_, args, line) => {
    const { lines, exitCode } = await run(...args());
    expect(exitCode).toBe(2);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(line);
    expect(lines[0]).not.toContain("\n");
  });
});

describe("compareGolden()", () => {
  const rows: GoldenCase[] = [1, 2, 3, 4].map((id) => ({ id: String(id), fn: "same", args: {}, expected: id > 3 }));
  const kind = (settings: Partial<GoldenKind>): GoldenKind => ({
    name: "test",
    description: "",
    read: () => rows,
    compare: ({ expected }) => expected === true ? null : { what: "", expected, ours: true, isFalsePositive: true },
    ...settings,
  });

  test("passes exactly from the kind's threshold on", async () => {
    expect(await compareGolden(kind({ threshold: 0.25 }), rows)).toMatchObject({ agree: 1, total: 4, isPassed: true });
    expect(await compareGolden(kind({ threshold: 0.26 }), rows)).toMatchObject({ isPassed: false });
  });

  test("fails where the declared bound on false positives is passed", async () => {
    expect(await compareGolden(kind({ threshold: 0, maxFalsePositives: 3 }), rows)).toMatchObject({ isPassed: true });
    expect(await compareGolden(kind({ threshold: 0, maxFalsePositives: 2 }), rows)).toMatchObject({ isPassed: false });
  });
});

describe("firstDifference()", () => {
  const exact = { relative: 1e-9, absolute: 0 };

  test("names the path of the first difference", () => {
    const ours = { a: 1, b: { c: [1, 2] } };
    expect(firstDifference({ a: 1, b: { c: [1, 3] } }, ours, exact)).toEqual({ what: "b.c[1]", expected: 3, ours: 2 });
  });

  test("is relative to the expected value", () => {
    expect(firstDifference(1e-200, 1e-200 * (1 + 1e-10), exact)).toBeNull();
    expect(firstDifference(1e-200, 1.001e-200, exact)).not.toBeNull();
  });

  test("does not take a number for the text of a non-finite one, nor the other way round", () => {
    expect(firstDifference("NaN", NaN, exact)).toBeNull();
    expect(firstDifference("Infinity", Infinity, exact)).toBeNull();
    expect(firstDifference("Infinity", -Infinity, exact)).not.toBeNull();
    expect(firstDifference(1, NaN, exact)).not.toBeNull();
    expect(firstDifference("1", 1, exact)).not.toBeNull();
  });

  test("takes a RangeError for an exception or an undefined result, and for nothing else", () => {
    const ours = attempt(() => {
      throw new RangeError("no");
    });
    expect(ours).toBe(OUT_OF_RANGE);
    for (const expected of [{ raises: "ValueError" }, "NaN", "ValueError", ["NaN", 1]]) {
      expect(firstDifference(expected, ours, exact)).toBeNull();
    }
    for (const expected of [1, [1, 2], { p: 1 }, null]) expect(firstDifference(expected, ours, exact)).not.toBeNull();
  });

  test("misses no part that the golden answer has", () => {
    expect(firstDifference({ a: 1, b: 2 }, { a: 1 }, exact)).toMatchObject({ what: "b" });
    expect(firstDifference([1, 2], [1], exact)).not.toBeNull();
    expect(firstDifference({ raises: "ValueError" }, 3, exact)).not.toBeNull();
  });

  test("lets errors other than a RangeError through", () => {
    expect(() =>
      attempt(() => {
        throw new TypeError("no");
      })
    ).toThrow(TypeError);
  });
});
