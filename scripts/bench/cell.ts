/**
 * `deno task bench cell`: wall time of whole micro cells, one after another, and the share of it that is not spent in
 * engine calls (loop, environment, retriever, journal, checkpoints). Declared bound: 15 %.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findRuns } from "../../lib/record/run_directory.ts";
import { readRun } from "../../lib/record/read_run.ts";

const out = mkdtempSync(join(tmpdir(), "coevo-bench-"));
try {
  const script = fileURLToPath(new URL("../reproduce.ts", import.meta.url));
  const args = ["run", "-A", script, "inspo", "--arms", "all", "--seeds", "1", "--jobs", "1", "--out", out];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  for (const { directory } of await findRuns(out)) {
    const { config, timing } = await readRun(directory);
    const seconds = timing.reduce((sum, row) => sum + row.seconds, 0);
    const engine = timing.reduce((sum, row) => sum + row.engineSeconds, 0);
    const share = 100 * (1 - engine / seconds);
    process.stdout.write(
      `${config.arm.padEnd(24)} ${seconds.toFixed(1).padStart(5)} s, outside the engine ${share.toFixed(1)} %\n`,
    );
  }
} finally {
  rmSync(out, { recursive: true, force: true });
}
