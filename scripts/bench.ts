/** `deno task bench <name>`: runs one of scripts/bench/, each of which measures against a peer in the same run. */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { unknownName } from "../lib/recipe/command_line.ts";

const BENCHES = ["engine", "retrieval", "cell"];

const [name, ...args] = Deno.args;
if (name === undefined || !BENCHES.includes(name)) {
  process.stderr.write(`${unknownName("bench", name ?? "", BENCHES)}\n`);
  process.exit(2);
}
const script = fileURLToPath(new URL(`./bench/${name}.ts`, import.meta.url));
const { status } = spawnSync(process.execPath, ["run", "-A", script, ...args], { stdio: "inherit" });
process.exit(status ?? 1);
