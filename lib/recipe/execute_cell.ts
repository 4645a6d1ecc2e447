import { fileURLToPath } from "node:url";
import { acquireLock } from "../record/lock.ts";
import { collectEnvironment } from "../record/provenance.ts";
import { reuseOf } from "../record/reuse.ts";
import { resumePoint } from "../record/run_writer.ts";
import { RECORD_VERSION, type RunConfig } from "../record/schema.ts";
import { hashConfig } from "../record/canonical_json.ts";
import type { CellOrder } from "./cell_process.ts";
import type { Cell, Recipe } from "./recipe.ts";
import type { CellContext, CellOutcome } from "./run_recorded.ts";

/** The repository's root. */
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Seconds to wait for a process that lost its command and is still writing its last checkpoint. */
const ORPHAN_SECONDS = 20;

/** Runs or resumes a cell in this process. @throws {AlreadyRunningError} if another process has its directory */
export async function executeCell(
  recipe: Recipe,
  order: CellOrder,
  hooks: Pick<CellContext, "onProgress" | "shouldStop">,
): Promise<CellOutcome> {
  const { cell, directory } = order;
  const lock = await acquireLock(directory, ORPHAN_SECONDS);
  try {
    const config = configOf(cell);
    // The process that was waited for may have come to its end.
    if (await reuseOf(directory, config.hash) === "reuse") return "finished";
    const { environment, codeDiff } = await collectEnvironment({ command: order.command, root: ROOT });
    const context: CellContext = {
      directory,
      config,
      environment,
      codeDiff,
      options: order.options,
      isResumed: await resumePoint(directory) !== null,
      ...hooks,
    };
    return await recipe.scales[cell.scale].runCell(cell, context);
  } finally {
    await lock.release();
  }
}

/** config.json of a cell. */
export function configOf({ recipe, scale, arm, seed, settings }: Cell): RunConfig {
  const config = { recipe, scale, arm, seed, settings };
  return { version: RECORD_VERSION, ...config, hash: hashConfig(config) };
}
