/** `deno task reproduce <recipe> [flags]`: runs a recipe's cells and prints its table and verdicts. */
import { availableParallelism } from "node:os";
import process from "node:process";
import { loadRecipe, RECIPE_NAMES } from "../recipes/index.ts";
import { helpText, UsageError } from "../lib/recipe/command_line.ts";
import { runReproduce } from "../lib/recipe/command.ts";
import { exitCode } from "../lib/recipe/exit_code.ts";
import { REPRODUCE_FLAGS, reproduceOptions } from "../lib/recipe/reproduce_options.ts";
import { shellCommand } from "../lib/recipe/shell_command.ts";

const USAGE = `deno task reproduce <recipe> [flags]\n\nRecipes: ${RECIPE_NAMES.join(", ")}`;

/** Runs the command and exits with its code. @param args recipe, then flags */
export async function main(args: readonly string[]): Promise<never> {
  try {
    const [name, ...rest] = args;
    if (name === undefined || name === "--help" || rest.includes("--help")) {
      process.stdout.write(`${helpText(USAGE, REPRODUCE_FLAGS)}\n`);
      process.exit(name === undefined ? 2 : 0);
    }
    if (name.startsWith("--")) {
      throw new UsageError(
        `give the recipe first: ${shellCommand(["deno", "task", "reproduce", RECIPE_NAMES[0], ...args])}`,
      );
    }
    const options = reproduceOptions(await loadRecipe(name), rest, availableParallelism());
    process.exit(await runReproduce(options, shellCommand(["deno", "task", "reproduce", ...args])));
  } catch (error) {
    const { code, message } = exitCode(error);
    process.stderr.write(`${message}\n`);
    process.exit(code);
  }
}

if (import.meta.main) await main(Deno.args);
