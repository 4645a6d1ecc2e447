/** `deno task bench <name>`: runs one of scripts/bench/, each of which measures against a peer in the same run. */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { unknownName, UsageError } from "../lib/recipe/command_line.ts";
import { EXIT } from "../lib/recipe/exit_code.ts";
import { runScript } from "../lib/recipe/run_script.ts";

const BENCHES = ["engine", "retrieval", "cell"];
const USAGE = `deno task bench engine [repetitions]  the embedded engine, beside PyTorch where there is one
deno task bench retrieval             BM25, beside SQLite's
deno task bench cell                  whole micro cells, and the share of their time outside of the engine`;

await runScript(([name, ...args], io) => {
  if (name === undefined) {
    io.stderr.write(`${USAGE}\n`);
    return Promise.resolve(EXIT.usage);
  }
  if (!BENCHES.includes(name)) throw new UsageError(unknownName("bench", name, BENCHES));
  const script = fileURLToPath(new URL(`./bench/${name}.ts`, import.meta.url));
  const { status } = spawnSync(process.execPath, ["run", "-A", script, ...args], { stdio: "inherit" });
  return Promise.resolve(status ?? EXIT.failed);
});
