import { availableParallelism } from "node:os";
import { runReproduce } from "./command.ts";
import { helpText, UsageError } from "./command_line.ts";
import type { CommandIo } from "./command_io.ts";
import { EXIT } from "./exit_code.ts";
import type { Recipe } from "./recipe.ts";
import { REPRODUCE_FLAGS, reproduceOptions } from "./reproduce_options.ts";
import { shellCommand } from "./shell_command.ts";

/** The recipes that a command can run. */
export interface RecipeSource {
  /** At least one. */
  names: readonly string[];
  /** @throws {UsageError} if there is none of that name */
  load(name: string): Promise<Recipe>;
}

/**
 * `reproduce <recipe> [flags]`: from the words of the command line to the exit code.
 *
 * @throws {UsageError} if the words cannot be understood
 */
export async function main(args: readonly string[], recipes: RecipeSource, io: CommandIo): Promise<number> {
  const [name, ...flags] = args;
  const isRecipe = name !== undefined && !name.startsWith("-");
  if (name === undefined || args.includes("--help") || args.includes("-h")) {
    const defaults = isRecipe ? defaultsOf(await recipes.load(name)) : [];
    io.stdout.write(`${[helpText(usage(recipes), REPRODUCE_FLAGS), ...defaults, NOTES].join("\n\n")}\n`);
    return name === undefined ? EXIT.usage : EXIT.done;
  }
  if (!isRecipe) {
    throw new UsageError(
      `give the recipe first: ${shellCommand(["deno", "task", "reproduce", recipes.names[0], ...args])}`,
    );
  }
  const options = reproduceOptions(await recipes.load(name), flags, availableParallelism());
  return await runReproduce(options, shellCommand(["deno", "task", "reproduce", ...args]), io);
}

function usage({ names }: RecipeSource): string {
  return `deno task reproduce <recipe> [flags]

Recipes: ${names.join(", ")}; \`deno task reproduce ${names[0]} --help\` has its default arms and seeds too
Example: deno task reproduce ${names[0]} --arms all --seeds 10`;
}

/** The arms and seeds of a recipe's scales, as flags that would choose the same. */
function defaultsOf({ name, scales }: Recipe): string[] {
  const lines = Object.values(scales).map(({ name: scale, defaultArms, defaultSeeds }) =>
    `  --scale ${scale} --arms ${defaultArms.join(",")} --seeds ${defaultSeeds.join(",")}`
  );
  return [[`Defaults of ${name}:`, ...lines].join("\n")];
}

const NOTES = `Environment:
  OPENAI_API_KEY         key of the chat-completions endpoint (--reflector openai, --scale api)
  OPENAI_BASE_URL        its address, if it is not OpenAI's; a server of your own may need no key
  COEVO_REFLECTOR_MODEL  the model that writes instructions; else the recipe's choice
  COEVO_SHARED           folder of reference data; --scale api takes its questions from there without --data
  NO_COLOR               if it is set, no colours

Exit codes: ${EXIT.done} done, ${EXIT.failed} a cell failed, ${EXIT.usage} usage, \
${EXIT.infrastructure} infrastructure (disk, service, another run at work),
  ${EXIT.SIGINT} and ${EXIT.SIGTERM} stopped by SIGINT and SIGTERM`;
