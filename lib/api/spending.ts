import type { ChatUsage } from "./chat.ts";

/** US dollars for a million tokens. */
export interface Prices {
  inputPerMillion: number;
  outputPerMillion: number;
}

/** What a client may spend. */
export interface SpendingLimits {
  /** Most calls; a retry after 429, 5xx or a timeout is part of its call. */
  maxCalls?: number;
  /** No call is sent once this much is spent; the calls under way at that moment can still pass it. */
  maxCostUsd?: number;
}

/** Running totals. */
export interface Spending {
  /** Calls that were sent, those in the call log included. */
  calls: number;
  /** Calls that the call log answered. */
  reusedCalls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number | null;
}

/** A call was not sent because the budget is used up. */
export class BudgetExhaustedError extends Error {
  override name = "BudgetExhaustedError";
  /**
   * @param spent calls or US dollars, by `kind`
   * @param limit in the same unit
   */
  constructor(readonly kind: "calls" | "cost", readonly spent: number, readonly limit: number) {
    super(
      kind === "calls"
        ? `Cannot send another call: ${spent} of at most ${limit} are used; raise --max-calls and run the same command again, it goes on from there`
        : `Cannot send another call: ${
          spent.toFixed(4)
        } of at most ${limit} USD are spent; raise --max-cost and run the same command again, it goes on from there`,
    );
  }
}

/** Keeps account of calls, tokens and money. */
export interface Ledger {
  /** Takes the place of one call. @throws {BudgetExhaustedError} where the limits do not allow it */
  admit(): void;
  /** Adds a reply's tokens; gives them back with their cost. */
  charge(tokens: Omit<ChatUsage, "costUsd">): ChatUsage;
  /** Notes that a call was answered from the log. */
  reuse(): void;
  totals(): Spending;
}

/**
 * A ledger that starts with what was already paid: limits cover a run with all its resumptions.
 *
 * @param paid usage of earlier calls; a cost that was unknown then is computed from today's prices
 * @throws {RangeError} on a negative or fractional limit, or a cost limit without prices
 */
export function createLedger(
  model: string,
  limits: SpendingLimits,
  prices: Prices | undefined,
  paid: Iterable<ChatUsage>,
): Ledger {
  checkLimits(model, limits, prices);
  const totals: Spending = {
    calls: 0,
    reusedCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: prices === undefined ? null : 0,
  };
  const add = (usage: ChatUsage) => {
    totals.inputTokens += usage.inputTokens;
    totals.outputTokens += usage.outputTokens;
    if (totals.costUsd !== null) totals.costUsd += usage.costUsd ?? costOf(usage, prices) ?? 0;
  };
  for (const usage of paid) {
    totals.calls++;
    add(usage);
  }
  return {
    admit: () => {
      if (totals.calls >= (limits.maxCalls ?? Infinity)) {
        throw new BudgetExhaustedError("calls", totals.calls, limits.maxCalls!);
      }
      if ((totals.costUsd ?? 0) >= (limits.maxCostUsd ?? Infinity)) {
        throw new BudgetExhaustedError("cost", totals.costUsd!, limits.maxCostUsd!);
      }
      totals.calls++;
    },
    charge: (tokens) => {
      const usage = { ...tokens, costUsd: costOf(tokens, prices) };
      add(usage);
      return usage;
    },
    reuse: () => {
      totals.reusedCalls++;
    },
    totals: () => ({ ...totals }),
  };
}

/** The sum of two usages; a cost that is unknown in one is unknown in the sum. */
export function addUsage(a: ChatUsage, b: ChatUsage): ChatUsage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    costUsd: a.costUsd === null || b.costUsd === null ? null : a.costUsd + b.costUsd,
    isEstimated: a.isEstimated || b.isEstimated,
  };
}

function costOf({ inputTokens, outputTokens }: Omit<ChatUsage, "costUsd">, prices: Prices | undefined): number | null {
  if (prices === undefined) return null;
  return (inputTokens * prices.inputPerMillion + outputTokens * prices.outputPerMillion) / 1e6;
}

function checkLimits(model: string, { maxCalls, maxCostUsd }: SpendingLimits, prices: Prices | undefined): void {
  if (maxCalls !== undefined && !(Number.isInteger(maxCalls) && maxCalls >= 0)) {
    throw new RangeError(`Cannot limit the calls to ${maxCalls}: need a whole number of at least 0`);
  }
  if (prices !== undefined && !(prices.inputPerMillion >= 0 && prices.outputPerMillion >= 0)) {
    throw new RangeError(
      `Cannot count the cost of "${model}": its prices must be numbers of at least 0 (USD per million tokens)`,
    );
  }
  if (maxCostUsd === undefined) return;
  if (!(maxCostUsd >= 0)) {
    throw new RangeError(`Cannot limit the cost to ${maxCostUsd} USD: need a number of at least 0`);
  }
  if (prices === undefined) {
    throw new RangeError(
      `Cannot limit the cost to ${maxCostUsd} USD: the prices of "${model}" are not known; ` +
        "give --price IN,OUT (USD per million tokens)",
    );
  }
}
