import { expect, test } from "vitest";
import { displayWidth, wrapText } from "../../lib/report/display_width.ts";
import { randomStream } from "../../lib/random/stream.ts";

test("displayWidth() counts columns: ideographs and emoji two, combining marks none", () => {
  expect(["abc", "先搜", "e\u0301", "👩‍🔬", "é–…", "한", "ﾃ"].map(displayWidth)).toEqual([3, 4, 1, 2, 3, 2, 1]);
});

test("wrapText() never exceeds the width and loses no character but spaces", () => {
  const stream = randomStream("wrap");
  for (let round = 0; round < 200; round++) {
    const words = Array.from(
      { length: 12 },
      () => stream.pick(["a", "先搜索", "word", "longer-than-most-widths", "👍"]),
    );
    const text = words.join(" ");
    const width = 4 + stream.below(20);
    const lines = wrapText(text, width);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
    expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
  }
});

test("wrapText() breaks at spaces and keeps line feeds", () => {
  expect(wrapText("one two three\nfour", 8)).toEqual(["one two", "three", "four"]);
  expect(wrapText("", 8)).toEqual([""]);
});
