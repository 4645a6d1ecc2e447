import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellCommand } from "../../lib/recipe/shell_command.ts";

test("shellCommand() leaves ordinary words as they are", () => {
  expect(shellCommand(["deno", "task", "reproduce", "inspo", "--out=results", "--arms", "a,b"])).toBe(
    "deno task reproduce inspo --out=results --arms a,b",
  );
});

test("shellCommand() gives a line that sh reads back as the same words", () => {
  const words = ["my results", "it's", "$HOME", "a;b", "", "*", 'say "hi"', "back\\slash", "--price", "0.15,0.60", "~"];
  const line = shellCommand(["printf", "%s\\n", ...words]);
  expect(execFileSync("sh", ["-c", line], { encoding: "utf8" })).toBe(words.map((word) => `${word}\n`).join(""));
});
