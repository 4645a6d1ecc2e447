import {
  type Flag,
  nonEmpty,
  parseArguments,
  positiveNumber,
  seedList,
  unknownName,
  UsageError,
  wholeNumber,
} from "./command_line.ts";
import type { Overrides, Recipe, RunOptions, Scale } from "./recipe.ts";

/** What `reproduce` was asked to do, checked against the recipe. */
export interface ReproduceOptions {
  recipe: Recipe;
  scale: Scale;
  arms: readonly string[];
  seeds: readonly number[];
  jobs: number;
  out: string;
  overrides: Overrides;
  run: RunOptions;
  isGrid: boolean;
  isPlan: boolean;
  isFresh: boolean;
  isJson: boolean;
  /** A checkpoint to score on the panels in place of a run, or null. */
  evaluate: string | null;
}

/** The flags of `reproduce`. */
export const REPRODUCE_FLAGS: Readonly<Record<string, Flag>> = {
  scale: { value: "NAME", help: "micro (default), api, …: how large the run is", parse: nonEmpty },
  arms: { value: "A,B|all", help: "which methods; default: the recipe's choice", parse: nonEmpty },
  seeds: { value: "N|A..B|A,B", help: "seeds 1 to N, a range or a list", parse: seedList },
  jobs: { value: "N", help: "cells at once, each in a process of its own; default: cores", parse: wholeNumber(1) },
  rollouts: { value: "N", help: "budget of each arm; evaluation is free, verification is not", parse: wholeNumber(1) },
  model: { value: "NAME", help: "the model, where the scale lets you choose", parse: nonEmpty },
  reflector: { value: "R", help: "who writes instructions: offline, openai or replay:FILE", parse: nonEmpty },
  record: {
    value: "FILE",
    help: "keep the reflector's replies in FILE.<arm>.seed-<n>.jsonl, for replay:FILE",
    parse: nonEmpty,
  },
  grid: { help: "run the recipe's sensitivity grid" },
  data: { value: "DIR", help: "folder with questions.jsonl and corpus.jsonl (scale api)", parse: nonEmpty },
  "max-cost": { value: "USD", help: "each cell stops once it has spent this; needs --price", parse: positiveNumber },
  "max-calls": { value: "N", help: "each cell stops before making more calls than this", parse: wholeNumber(1) },
  price: { value: "IN,OUT", help: "USD per million input and output tokens of the model", parse: pricePair },
  out: { value: "DIR", help: "results root; default: results", parse: nonEmpty },
  evaluate: {
    value: "PATH",
    help: "score a run's directory, a folder of its checkpoint or a model.safetensors, without training",
    parse: nonEmpty,
  },
  plan: { help: "print what would be run, and do nothing" },
  fresh: { help: "run finished and unfinished cells again; old runs are kept in superseded/" },
  json: { help: "print the table as JSON" },
  help: { help: "print this text; also -h" },
};

/**
 * Reads the command line of `reproduce`, without the recipe's name.
 *
 * @throws {UsageError} one line: what was wrong, and what there is
 */
export function reproduceOptions(recipe: Recipe, args: readonly string[], cores: number): ReproduceOptions {
  const { flags, words } = parseArguments(args, REPRODUCE_FLAGS);
  if (words.length > 0) throw new UsageError(`unexpected ${JSON.stringify(words[0])}: give one recipe, then flags`);
  const scaleName = flags.scale as string | undefined ?? "micro";
  if (!Object.hasOwn(recipe.scales, scaleName)) {
    throw new UsageError(unknownName("scale", scaleName, Object.keys(recipe.scales)));
  }
  const scale = recipe.scales[scaleName];
  const isGrid = flags.grid === true;
  if (isGrid && scale.grid === null) throw new UsageError(`--grid: scale ${scaleName} of ${recipe.name} has no grid`);
  const isPlan = flags.plan === true;
  if (isPlan && flags.fresh === true) throw new UsageError("--plan does nothing, so --fresh has no meaning with it");
  if (flags["max-cost"] !== undefined && flags.price === undefined) {
    throw new UsageError("--max-cost needs --price IN,OUT (USD per million input and output tokens)");
  }
  const reflector = flags.reflector as string | undefined;
  if (reflector !== undefined) checkReflector(reflector);
  const fallback = isGrid && scale.grid !== null
    ? { arms: scale.grid.arms, seeds: scale.grid.seeds }
    : { arms: scale.defaultArms, seeds: scale.defaultSeeds };
  return {
    recipe,
    scale,
    arms: flags.arms === undefined ? fallback.arms : armList(flags.arms as string, scale),
    seeds: flags.seeds as number[] | undefined ?? fallback.seeds,
    jobs: flags.jobs as number | undefined ?? cores,
    out: flags.out as string | undefined ?? "results",
    overrides: { rollouts: flags.rollouts as number | undefined, model: flags.model as string | undefined, reflector },
    run: {
      reflector,
      dataDir: flags.data as string | undefined,
      recordFile: flags.record as string | undefined,
      maxCostUsd: flags["max-cost"] as number | undefined,
      maxCalls: flags["max-calls"] as number | undefined,
      price: flags.price as [number, number] | undefined,
    },
    isGrid,
    isPlan,
    isFresh: flags.fresh === true,
    isJson: flags.json === true,
    evaluate: flags.evaluate as string | undefined ?? null,
  };
}

function armList(text: string, scale: Scale): string[] {
  const known = Object.keys(scale.arms);
  if (text === "all") return known;
  const arms = text.split(",");
  for (const arm of arms) if (!known.includes(arm)) throw new UsageError(unknownName("arm", arm, known));
  if (new Set(arms).size < arms.length) throw new UsageError(`--arms ${JSON.stringify(text)}: names an arm twice`);
  return arms;
}

function checkReflector(text: string): void {
  const isKnown = text === "offline" || text === "openai" || /^replay:.+/.test(text);
  if (!isKnown) throw new UsageError(unknownName("reflector", text, ["offline", "openai", "replay:FILE"]));
}

function pricePair(text: string): [number, number] {
  const prices = text.split(",").map((part) => part.trim() === "" ? NaN : Number(part));
  if (prices.length !== 2 || prices.some((price) => !Number.isFinite(price) || price < 0)) {
    throw new UsageError("needs two prices, e.g. 0.15,0.60");
  }
  return [prices[0], prices[1]];
}
