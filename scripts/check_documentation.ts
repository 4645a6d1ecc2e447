/**
 * Checks that every exported symbol of lib/ and recipes/ has a doc comment: the missing-jsdoc rule of `deno doc --lint`.
 * Its other rules want every inferred zod type spelled out, which would write each schema twice.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import process from "node:process";

const files = ["lib", "recipes"].flatMap((root) =>
  (readdirSync(root, { recursive: true }) as string[]).filter((path) => path.endsWith(".ts")).map((path) =>
    `${root}/${path}`
  )
);
const { stderr } = spawnSync(process.execPath, ["doc", "--lint", ...files], {
  encoding: "utf8",
  maxBuffer: 1 << 28,
  env: { ...process.env, NO_COLOR: "1" },
});
const faults = stderr.split(/\n(?=error\[)/).filter((fault) => fault.startsWith("error[missing-jsdoc]"));
const symbols = faults.filter((fault) => !isMember(fault));
for (const fault of symbols) process.stderr.write(`${fault}\n`);
process.stdout.write(
  `documentation: ${files.length} files, ${symbols.length} exported symbols without a doc comment\n`,
);
process.exit(symbols.length === 0 ? 0 : 1);

/** A field of an interface may speak for itself; an exported symbol may not. */
function isMember(fault: string): boolean {
  const line = fault.split("\n").find((each) => /^\s*\d+ \|/.test(each)) ?? "";
  return !/\|\s*export\b/.test(line);
}
