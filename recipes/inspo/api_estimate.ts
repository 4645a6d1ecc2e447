import { type Cell, type RunOptions, settingsOf } from "../../lib/recipe/recipe.ts";
import type { ApiSettings } from "./api_settings.ts";

/**
 * A trajectory as it is expected: two searches and an answer, since HotpotQA's questions have two hops. Tokens of a call
 * are means over these three calls, measured with a scripted policy on the panel's test questions: Search-R1's
 * instruction, BM25, 60 words of reasoning a turn, four characters a token.
 */
const EXPECTED = { calls: 3, inputTokens: 670, outputTokens: 100 } as const;

/** Tokens of Search-R1's instruction and a question. */
const PROMPT_TOKENS = 200;

/** Calls and tokens of trajectories. */
interface Amount {
  calls: number;
  inputTokens: number;
  outputTokens: number;
}

/** What the cells will ask of the model, before anything is asked: lines of `--plan`. */
export function estimateLines(cells: readonly Cell[], options: RunOptions): string[] {
  if (cells.length === 0) return [];
  const estimates = cells.map((cell) => estimateOf(settingsOf<ApiSettings>(cell)));
  const arms = [...Map.groupBy(cells, ({ arm }) => arm)].map(([arm, of]) => ({
    arm,
    seeds: of.length,
    ...estimateOf(settingsOf<ApiSettings>(of[0])),
  }));
  const sum = (amounts: readonly Amount[]) => amounts.reduce(add, { calls: 0, inputTokens: 0, outputTokens: 0 });
  const expected = sum(estimates.map((each) => each.expected));
  const most = sum(estimates.map((each) => each.most));
  const calls = arms.map(({ arm, seeds, trajectories, reflections, expected, most }) =>
    `${arm}: about ${whole(expected.calls)}, at most ${whole(most.calls)}, for ${whole(trajectories)} trajectories${
      reflections === 0 ? "" : ` and ${reflections} reflections`
    }${seeds === 1 ? "" : `, for each of ${seeds} seeds`}`
  );
  return [
    ...labelled("calls", calls),
    ...labelled("tokens", [
      `about ${millions(expected.inputTokens)} in and ${millions(expected.outputTokens)} out, at most ${
        millions(most.inputTokens)
      } and ${millions(most.outputTokens)}`,
    ]),
    ...labelled("cost", [costLine(expected, most, options)]),
    ...labelled("basis", [
      `${EXPECTED.calls} calls a trajectory, of ${EXPECTED.inputTokens} tokens in and ${EXPECTED.outputTokens} out on average (two searches, then an answer);`,
      "most: every turn is taken and fills its limit; reflections are not in tokens and cost",
    ]),
    ...labelled("limits", limitLines(options)),
  ];
}

interface Estimate {
  trajectories: number;
  reflections: number;
  expected: Amount;
  most: Amount;
}

function estimateOf(settings: ApiSettings): Estimate {
  const { budget, loop, panel } = settings;
  const evaluations = 1 + Math.ceil(budget / loop.evaluationInterval);
  const trajectories = budget + evaluations * panel.test;
  const reflections = reflectionsOf(settings);
  const expected = {
    calls: EXPECTED.calls * trajectories,
    inputTokens: EXPECTED.calls * EXPECTED.inputTokens * trajectories,
    outputTokens: EXPECTED.calls * EXPECTED.outputTokens * trajectories,
  };
  return {
    trajectories,
    reflections,
    expected: { ...expected, calls: expected.calls + reflections },
    most: mostOf(settings, trajectories, reflections),
  };
}

/** The first population, and one reflection for each generation that the budget allows. */
function reflectionsOf({ budget, loop, inspo }: ApiSettings): number {
  if (inspo === null) return 0;
  const samples = inspo.verification?.samples ?? 0;
  const first = inspo.populationSize * samples;
  const steps = (inspo.evolutionInterval ?? Infinity) * loop.groupsPerStep * loop.groupSize;
  const generation = steps + (inspo.candidates + 1) * samples;
  return 1 + Math.floor((budget - (first <= budget ? first : 0)) / generation);
}

/** Every turn is taken, and every reply and every observation is as long as it may be. */
function mostOf({ protocol }: ApiSettings, trajectories: number, reflections: number): Amount {
  const turns = protocol.maxTurns + (protocol.forcedFinalTurn ? 1 : 0);
  const growth = protocol.maxTurnTokens + protocol.maxObservationTokens;
  const inputTokens = turns * PROMPT_TOKENS + growth * turns * (turns - 1) / 2;
  return {
    calls: turns * trajectories + 2 * reflections,
    inputTokens: inputTokens * trajectories,
    outputTokens: turns * protocol.maxTurnTokens * trajectories,
  };
}

function costLine(expected: Amount, most: Amount, { price }: RunOptions): string {
  if (price === undefined) return "not known; --price IN,OUT (USD per million tokens) shows it";
  const dollars = ({ inputTokens, outputTokens }: Amount) =>
    `$${((inputTokens * price[0] + outputTokens * price[1]) / 1e6).toFixed(2)}`;
  return `about ${dollars(expected)}, at most ${dollars(most)}, with --price ${price.join(",")}`;
}

function limitLines({ maxCalls, maxCostUsd }: RunOptions): string[] {
  return [
    ...(maxCalls === undefined ? [] : [`each cell stops after ${whole(maxCalls)} calls (--max-calls)`]),
    ...(maxCostUsd === undefined ? [] : [`each cell stops once $${maxCostUsd} are spent (--max-cost)`]),
    ...(maxCalls === undefined && maxCostUsd === undefined ? ["none: --max-calls N and --max-cost USD set them"] : []),
  ];
}

function labelled(label: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => `${(index === 0 ? label : "").padEnd(9)}${line}`);
}

function add(a: Amount, b: Amount): Amount {
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
}

function whole(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

function millions(tokens: number): string {
  return `${(tokens / 1e6).toLocaleString("en-US", { maximumSignificantDigits: 3 })} million`;
}
