import { unknownName, UsageError } from "../lib/recipe/command_line.ts";
import type { Recipe } from "../lib/recipe/recipe.ts";

/** Loaders by recipe name; a recipe is imported only when it is asked for. */
const RECIPES: Readonly<Record<string, () => Promise<{ recipe: Recipe }>>> = {
  inspo: () => import("./inspo/recipe.ts"),
};

/** Names of all recipes. */
export const RECIPE_NAMES: readonly string[] = Object.keys(RECIPES);

/** A recipe by name. @throws {UsageError} if there is none */
export async function loadRecipe(name: string): Promise<Recipe> {
  if (!Object.hasOwn(RECIPES, name)) throw new UsageError(unknownName("recipe", name, RECIPE_NAMES));
  return (await RECIPES[name]()).recipe;
}
