/**
 * Runs one cell in this process: reads a {@link CellOrder} as the first line of standard input, writes messages as JSON
 * Lines on standard output. Started by `reproduce`; stops after the current step on SIGINT, SIGTERM or the end of
 * standard input.
 */
import { createInterface } from "node:readline";
import process from "node:process";
import { type CellMessage, type CellOrder } from "../lib/recipe/cell_process.ts";
import { executeCell } from "../lib/recipe/execute_cell.ts";
import { isInfrastructureError } from "../lib/recipe/exit_code.ts";
import { loadRecipe } from "../recipes/index.ts";

const send = (message: CellMessage) => process.stdout.write(`${JSON.stringify(message)}\n`);
let isStopping = false;
const stop = () => void (isStopping = true);
// The reader is gone: what is left to do is a checkpoint.
process.stdout.on("error", stop);
process.on("SIGINT", stop);
process.on("SIGTERM", stop);

const input = createInterface({ input: process.stdin });
input.once("line", async (line) => {
  input.once("close", stop);
  try {
    const order = JSON.parse(line) as CellOrder;
    const recipe = await loadRecipe(order.cell.recipe);
    const outcome = await executeCell(recipe, order, {
      onProgress: (progress) => send({ type: "progress", progress }),
      shouldStop: () => isStopping,
    });
    send({ type: "outcome", outcome });
    process.exit(0);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    send({ type: "failed", message, isInfrastructure: isInfrastructureError(error) });
    process.exit(1);
  }
});
