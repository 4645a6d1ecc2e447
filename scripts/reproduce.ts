/** `deno task reproduce <recipe> [flags]`: runs a recipe's cells and prints its table and verdicts. */
import { main } from "../lib/recipe/main.ts";
import { runScript } from "../lib/recipe/run_script.ts";
import { loadRecipe, RECIPE_NAMES } from "../recipes/index.ts";

await runScript((args, io) => main(args, { names: RECIPE_NAMES, load: loadRecipe }, io));
