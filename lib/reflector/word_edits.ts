import { type RandomStream, randomStream } from "../random/stream.ts";
import type { Candidate, Failure, ReflectionRequest, Reflector } from "./reflector.ts";

/** A rule of the offline reflector: a fault that it can see in a failure, and words that may mend it. */
export interface DiagnosisRule {
  name: string;
  applies(failure: Failure): boolean;
  hints: readonly string[];
}

/** What the word-editing reflectors know about the instructions' language. */
export interface WordEditSettings {
  /** All words of the language; what is tried where nothing was seen. */
  words: readonly string[];
  /** Most words in an instruction; the oldest are dropped first. */
  longest: number;
}

/** Attempts at a new instruction before the reflector gives up and proposes fewer. */
const ATTEMPTS_PER_CANDIDATE = 10;

/**
 * The offline reflector: deterministic rules in place of a language model. Each failure gets the first diagnosis that
 * applies; each candidate takes one of the diagnoses at random, and one of its hints is added to a parent or replaces
 * one of its words. The last rule must apply to every failure.
 *
 * Without failures (the initial population) it varies the parent by one word of the language at random.
 */
export function offlineReflector(rules: readonly DiagnosisRule[], settings: WordEditSettings): Reflector {
  return wordEditReflector("offline", settings, ({ failures }, stream) => {
    if (failures.length === 0) return { word: stream.pick(settings.words), diagnosis: "unseen" };
    const failure = stream.pick(failures);
    const rule = rules.find(({ applies }) => applies(failure));
    if (rule === undefined) {
      throw new TypeError("The offline reflector has no rule for a failure: its last rule must always apply");
    }
    return { word: stream.pick(rule.hints), diagnosis: rule.name };
  });
}

/** The control for {@link offlineReflector}: the same edits with random words, blind to the failures. */
export function randomEditReflector(settings: WordEditSettings): Reflector {
  return wordEditReflector(
    "random-edits",
    settings,
    (_request, stream) => ({ word: stream.pick(settings.words), diagnosis: "random" }),
  );
}

type WordChoice = (request: ReflectionRequest, stream: RandomStream) => { word: string; diagnosis: string };

function wordEditReflector(name: string, settings: WordEditSettings, chooseWord: WordChoice): Reflector {
  return {
    name,
    reflect: (request) =>
      Promise.resolve({
        candidates: propose(request, settings, chooseWord),
        calls: 0,
        usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
      }),
  };
}

function propose(request: ReflectionRequest, settings: WordEditSettings, chooseWord: WordChoice): Candidate[] {
  const stream = randomStream(request.seed, "word-edits");
  const seen = new Set(request.parents.map(wordSetKey));
  const proposals: Candidate[] = [];
  for (
    let attempt = 0;
    proposals.length < request.candidates && attempt < ATTEMPTS_PER_CANDIDATE * request.candidates;
    attempt++
  ) {
    const parent = request.parents[proposals.length % request.parents.length];
    const { word, diagnosis } = chooseWord(request, stream);
    const instruction = editWords(parent, word, settings.longest, stream);
    if (seen.has(wordSetKey(instruction))) continue;
    seen.add(wordSetKey(instruction));
    proposals.push({ instruction, diagnosis });
  }
  return proposals;
}

/** Adds a word at the end; half of the time it replaces another. */
function editWords(parent: string, word: string, longest: number, stream: RandomStream): string {
  const kept = wordsOf(parent).filter((each) => each !== word);
  if (stream.next() < 0.5 && kept.length > 0) kept.splice(stream.below(kept.length), 1);
  return [...kept, word].slice(-longest).join(" ");
}

/** Instructions with the same words in another order are the same. */
export function wordSetKey(text: string): string {
  return wordsOf(text).sort().join(" ");
}

/** The words of a text. */
export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
