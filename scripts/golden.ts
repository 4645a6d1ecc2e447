/**
 * Compares coevo with the recorded answers of other people's programs.
 *
 * Usage: `deno task golden <kind> <file>`
 *
 * @module
 */

import process from "node:process";
import { goldenCommand } from "../lib/golden/command.ts";
import { GOLDEN_KINDS } from "../lib/golden/kinds.ts";

const { lines, exitCode } = await goldenCommand(process.argv.slice(2), GOLDEN_KINDS);
(exitCode === 2 ? process.stderr : process.stdout).write(lines.join("\n") + "\n");
process.exitCode = exitCode;
