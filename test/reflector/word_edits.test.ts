import { expect, test } from "vitest";
import { INSTRUCTION_WORDS } from "../../lib/environment/hop_search/vocabulary.ts";
import type { Failure, ReflectionRequest } from "../../lib/reflector/reflector.ts";
import { offlineReflector, randomEditReflector, wordSetKey, wordsOf } from "../../lib/reflector/word_edits.ts";
import { HOP_SEARCH_DIAGNOSES } from "../../recipes/inspo/diagnoses.ts";
import { hopFailure } from "./hop_failure.ts";

const settings = { words: INSTRUCTION_WORDS, longest: 5 };
const request = (patch: Partial<ReflectionRequest> = {}): ReflectionRequest => ({
  parents: ["please carefully"],
  failures: [hopFailure()],
  candidates: 6,
  constraints: [],
  seed: 1,
  ...patch,
});

test("offlineReflector() proposes different edits of the parent with hints of the diagnosis, and the same again", async () => {
  const reflector = offlineReflector(HOP_SEARCH_DIAGNOSES, settings);
  const { candidates, calls } = await reflector.reflect(request());
  expect(candidates.length).toBe(6);
  expect(calls).toBe(0);
  expect(new Set(candidates.map(({ instruction }) => wordSetKey(instruction))).size).toBe(6);
  const hints = HOP_SEARCH_DIAGNOSES.find(({ name }) => name === "too few searches")?.hints ?? [];
  for (const { instruction, diagnosis } of candidates) {
    expect(diagnosis).toBe("too few searches");
    expect(hints).toContain(wordsOf(instruction).at(-1));
    expect(wordsOf(instruction).every((word) => settings.words.some((known) => known === word))).toBe(true);
  }
  expect((await reflector.reflect(request())).candidates).toEqual(candidates);
  expect((await reflector.reflect(request({ seed: 2 }))).candidates).not.toEqual(candidates);
});

test("offlineReflector() reads the failures: other faults give other words", async () => {
  const reflector = offlineReflector(HOP_SEARCH_DIAGNOSES, settings);
  const lastWords = async (failures: Failure[]) =>
    (await reflector.reflect(request({ failures }))).candidates.map(({ instruction }) => wordsOf(instruction).at(-1));
  expect(await lastWords([hopFailure({ answer: "probably Cador" })])).not.toContain("decompose");
  expect(await lastWords([hopFailure()])).toContain("decompose");
});

test("both reflectors keep to the longest instruction and vary several parents in turn", async () => {
  const parents = ["please carefully think well now", "search only"];
  for (const reflector of [offlineReflector(HOP_SEARCH_DIAGNOSES, settings), randomEditReflector(settings)]) {
    const { candidates } = await reflector.reflect(request({ parents }));
    for (const { instruction } of candidates) expect(wordsOf(instruction).length).toBeLessThanOrEqual(5);
    expect(candidates.some(({ instruction }) => /\b(search|only)\b/.test(instruction))).toBe(true);
    expect(candidates.some(({ instruction }) => /\b(please|carefully|think|well|now)\b/.test(instruction))).toBe(true);
  }
});

test("randomEditReflector() is blind to the failures", async () => {
  const reflector = randomEditReflector(settings);
  const blind = await reflector.reflect(request({ failures: [] }));
  expect((await reflector.reflect(request())).candidates).toEqual(blind.candidates);
});

test("a reflector that runs out of new edits proposes fewer instead of looping", async () => {
  const tiny = randomEditReflector({ words: ["only"], longest: 1 });
  expect((await tiny.reflect(request({ parents: ["only"] }))).candidates).toEqual([]);
});
