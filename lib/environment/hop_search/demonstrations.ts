import type { RandomStream } from "../../random/stream.ts";
import { searchQaPrompt } from "../search_qa/prompt.ts";
import { drawHops, drawRelations } from "./questions.ts";
import { ENTITIES, INSTRUCTION_WORDS, INVALID_ACTION, VERBOSE_WORD, VOCABULARY } from "./vocabulary.ts";

/** How a demonstrator goes about a question. */
export type Strategy = "guess" | "look" | "chain";
/** How a demonstrator words its answer. */
export type Style = "exact" | "verbose";

/** What the demonstrations teach the base policy to do, with and without a word that asks for it. */
export interface DemonstrationPrior {
  /** Probability of answering from memory, unasked. */
  guess: number;
  /** Probability of one search with the whole question, unasked. */
  look: number;
  /** Probability of one search a hop, unasked: the behaviour that solves every question. */
  chain: number;
  /** Probability of an exact answer, unasked. */
  exact: number;
  /** Probability that a word which names a strategy or style is obeyed. */
  obey: number;
}

/** World "v3" of the calibration (see the recipe's README): chaining is rare unless it is asked for. */
export const DEFAULT_PRIOR: DemonstrationPrior = { guess: 0.3, look: 0.695, chain: 0.005, exact: 0.75, obey: 0.6 };

/** Share of demonstrations that first show a (masked) turn without action and the environment's complaint. */
export const INVALID_TURN_SHARE = 0.03;

/** Words that ask for a strategy. All other instruction words mean nothing. */
const STRATEGY_WORDS: Readonly<Record<string, Strategy>> = {
  memory: "guess",
  quick: "guess",
  search: "look",
  lookup: "look",
  step: "chain",
  decompose: "chain",
};
/** Words that ask for a style. */
const STYLE_WORDS: Readonly<Record<string, Style>> = {
  short: "exact",
  only: "exact",
  explain: "verbose",
  sentence: "verbose",
};

/** Most words in an instruction. */
export const LONGEST_INSTRUCTION = 5;

/** A demonstration as text: prompt, then segments of which the policy learns its own. */
export interface Demonstration {
  instruction: string;
  question: string;
  prompt: string;
  segments: readonly { by: "policy" | "environment"; text: string }[];
}

/**
 * One warm-start demonstration. Every fact in it is made up on the spot, so that nothing of an encyclopaedia can be
 * learned from demonstrations; only the behaviour is.
 */
export function demonstrate(stream: RandomStream, prior: DemonstrationPrior): Demonstration {
  const words = drawInstruction(stream);
  const strategy = obeyed(words, STRATEGY_WORDS, prior, stream) ?? unaskedStrategy(prior, stream);
  const style = obeyed(words, STYLE_WORDS, prior, stream) ?? (stream.next() < prior.exact ? "exact" : "verbose");
  const subject = stream.pick(ENTITIES);
  const relations = drawRelations(drawHops(stream), stream);
  const question = `${subject} ${relations.join(" ")} ?`;
  const segments: { by: "policy" | "environment"; text: string }[] = [];
  if (stream.next() < INVALID_TURN_SHARE) segments.push({ by: "environment", text: brokenTurn(stream) });

  let entity: string = stream.pick(ENTITIES);
  const search = (query: string, found: string, relation: string) => {
    segments.push({ by: "policy", text: `<search> ${query} </search>` });
    entity = stream.pick(ENTITIES);
    segments.push({ by: "environment", text: `<information> ${found} ${relation} ${entity} </information>` });
  };
  if (strategy === "look") search(`${subject} ${relations.join(" ")}`, subject, stream.pick(relations));
  if (strategy === "chain") {
    entity = subject;
    for (const relation of relations) search(`${entity} ${relation}`, entity, relation);
  }
  const answer = style === "verbose" ? `${VERBOSE_WORD} ${entity}` : entity;
  segments.push({ by: "policy", text: `<answer> ${answer} </answer>` });
  const instruction = words.join(" ");
  return { instruction, question, prompt: searchQaPrompt(instruction, question)[0].content, segments };
}

function drawInstruction(stream: RandomStream): string[] {
  const length = stream.below(LONGEST_INSTRUCTION + 1);
  const words = new Set<string>();
  while (words.size < length) words.add(stream.pick(INSTRUCTION_WORDS));
  return [...words];
}

function obeyed<T>(
  words: readonly string[],
  meaning: Readonly<Record<string, T>>,
  prior: DemonstrationPrior,
  stream: RandomStream,
): T | null {
  const asking = words.filter((word) => word in meaning);
  if (asking.length === 0 || stream.next() >= prior.obey) return null;
  return meaning[stream.pick(asking)];
}

function unaskedStrategy(prior: DemonstrationPrior, stream: RandomStream): Strategy {
  const u = stream.next();
  return u < prior.guess ? "guess" : u < prior.guess + prior.look ? "look" : "chain";
}

function brokenTurn(stream: RandomStream): string {
  const words = Array.from({ length: 1 + stream.below(8) }, () => stream.pick(VOCABULARY.slice(3)));
  // A closing tag would end the turn; a broken turn has none.
  return `${words.filter((word) => !word.startsWith("</")).join(" ")} ${INVALID_ACTION}`.trim();
}
