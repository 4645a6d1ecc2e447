/**
 * INSPO: Agentic Policy Optimization via Instruction-Policy Co-Evolution (arXiv 2512.01945).
 *
 * Read on in micro_settings.ts (protocol and constants with their origin), arms.ts, micro_metrics.ts (metrics and
 * claims, declared before running) and micro.ts; api.ts is the scale with a frozen real model.
 *
 * @module
 */
import type { Recipe } from "../../lib/recipe/recipe.ts";
import { API_SCALE } from "./api.ts";
import { MICRO_SCALE } from "./micro.ts";

/** The recipe. */
export const recipe: Recipe = {
  name: "inspo",
  title: "INSPO: instruction–policy co-evolution for search agents",
  paper: "arXiv 2512.01945 (v1 2025-12-01, v2 2026-01-31)",
  scales: { micro: MICRO_SCALE, api: API_SCALE },
  // Loaded on demand: drawing takes a library that no cell needs.
  evolution: async (runs) => (await import("./evolution.ts")).instructionEvolution(runs),
};

if (import.meta.main) {
  const { main } = await import("../../lib/recipe/main.ts");
  const { runScript } = await import("../../lib/recipe/run_script.ts");
  const source = { names: [recipe.name], load: () => Promise.resolve(recipe) };
  await runScript((args, io) => main([recipe.name, ...args], source, io));
}
