import { expect, test } from "vitest";
import type { OutputStream } from "../../lib/recipe/command_io.ts";
import { progressDisplay, seconds } from "../../lib/recipe/progress_display.ts";
import type { CellProgress } from "../../lib/recipe/run_recorded.ts";

function fakeOutput(settings: Partial<OutputStream> = {}): OutputStream & { text(): string; screen(): string[] } {
  let text = "";
  return {
    isTerminal: false,
    hasColor: false,
    columns: 80,
    ...settings,
    write: (part) => void (text += part),
    text: () => text,
    screen: () => screenOf(text),
  };
}

/** What a terminal shows after these writes: lines, with "move up n" and "clear to the end" carried out. */
function screenOf(text: string): string[] {
  let lines = [""];
  // deno-lint-ignore no-control-regex
  for (const [part, up] of text.matchAll(/\x1b\[(\d+)A\x1b\[0J|\x1b\[\d+m|\n|[^\x1b\n]+/g)) {
    if (up !== undefined) lines = [...lines.slice(0, lines.length - 1 - Number(up)), ""];
    else if (part === "\n") lines.push("");
    else if (!part.startsWith("\x1b")) lines[lines.length - 1] += part;
  }
  return lines.slice(0, -1);
}

function progress(change: Partial<CellProgress> = {}): CellProgress {
  return { step: 1, rollouts: 64, budget: 640, reward: 0.25, em: 0.5, tokensPerSecond: 3456, ...change };
}

test("progressDisplay() elsewhere than on a terminal writes plain lines without a control character", () => {
  const output = fakeOutput();
  let now = 0;
  const display = progressDisplay(2, output, () => now);
  display.started("inspo seed 1");
  now = 6000;
  display.progress("inspo seed 1", progress());
  now = 7000;
  display.progress("inspo seed 1", progress({ step: 2, rollouts: 128 }));
  now = 9000;
  display.ended("inspo seed 1", "finished");
  display.line("a note");
  display.close();
  // deno-lint-ignore no-control-regex
  expect(output.text()).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  const lines = output.text().split("\n");
  expect(lines).toContain("inspo seed 1: step 1, 64/640 rollouts, reward 0.25, EM 0.500, 3.5k tokens/s");
  expect(lines).toContain("inspo seed 1: finished after 9 s (1 of 2)");
  expect(lines).toContain("a note");
  expect(output.text()).not.toContain("step 2");
});

test("progressDisplay() on a terminal keeps one line a running cell below the finished ones", () => {
  const output = fakeOutput({ isTerminal: true });
  let now = 0;
  const display = progressDisplay(3, output, () => now);
  display.started("a");
  display.started("b");
  now = 1000;
  display.progress("a", progress());
  expect(output.screen()).toEqual([
    "0 of 3 cells done",
    "a: step 1, 64/640 rollouts, reward 0.25, EM 0.500, 3.5k tokens/s",
    "b: starting",
  ]);
  display.ended("a", "finished");
  expect(output.screen()).toEqual(["a: finished after 1 s (1 of 3)", "1 of 3 cells done", "b: starting"]);
  display.ended("b", "failed", "no space");
  display.close();
  expect(output.screen()).toEqual(["a: finished after 1 s (1 of 3)", "b: failed: no space (2 of 3)"]);
});

test("progressDisplay() cuts live lines to the terminal's width, so that redrawing erases what it drew", () => {
  const output = fakeOutput({ isTerminal: true, columns: 40 });
  const display = progressDisplay(1, output, () => 0);
  display.started("an-arm-with-a-long-name@and=a,long=variant seed 1");
  expect(output.screen().every((line) => line.length < 40)).toBe(true);
});

test("progressDisplay() writes colour only where there is colour", () => {
  const isBold = (hasColor: boolean) => {
    const output = fakeOutput({ isTerminal: true, hasColor });
    progressDisplay(1, output, () => 0).started("a");
    return output.text().includes("\x1b[1m");
  };
  expect([isBold(true), isBold(false)]).toEqual([true, false]);
});

test("progressDisplay() redraws a terminal at most five times a second", () => {
  const output = fakeOutput({ isTerminal: true });
  let now = 0;
  const display = progressDisplay(1, output, () => now);
  display.started("a");
  const drawn = () => output.text().split("cells done").length - 1;
  const before = drawn();
  for (now = 1; now < 1000; now++) display.progress("a", progress({ step: now }));
  expect(drawn() - before).toBeLessThanOrEqual(5);
  expect(drawn() - before).toBeGreaterThan(2);
});

test("progressDisplay() estimates the rest from the rollouts that were made since the start, not from those resumed", () => {
  const output = fakeOutput({ isTerminal: true });
  let now = 0;
  const display = progressDisplay(1, output, () => now);
  display.started("a");
  display.progress("a", progress({ rollouts: 400 }));
  now = 10_000;
  display.progress("a", progress({ rollouts: 500 }));
  expect(output.screen().at(-1)).toContain("14 s left");
});

test("progressDisplay() leaves out what is not known, and passes over a cell that has ended", () => {
  const output = fakeOutput();
  let now = 0;
  const display = progressDisplay(1, output, () => now);
  display.started("a");
  now = 6000;
  display.progress("a", progress({ reward: null, em: null, tokensPerSecond: null }));
  expect(output.text().split("\n").at(-2)).toBe("a: step 1, 64/640 rollouts");
  display.ended("a", "finished");
  const before = output.text();
  now = 20_000;
  display.progress("a", progress());
  expect(output.text()).toBe(before);
});

test.each([
  [0, "0 s"],
  [59.4, "59 s"],
  [59.6, "1 min 0 s"],
  [125, "2 min 5 s"],
  [3599.7, "1 h 0 min"],
  [3780, "1 h 3 min"],
  [-1, "0 s"],
])("seconds(%s) is %s", (value, text) => expect(seconds(value)).toBe(text));
