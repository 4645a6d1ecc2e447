import { expect, test } from "vitest";
import { DEFAULT_PRIOR, demonstrate } from "../../../lib/environment/hop_search/demonstrations.ts";
import { hopSearchTokenizer, unknownWords } from "../../../lib/environment/hop_search/tokenizer.ts";
import { createHopSearchWorld } from "../../../lib/environment/hop_search/world.ts";
import { VOCABULARY } from "../../../lib/environment/hop_search/vocabulary.ts";
import { SEARCH_QA_PROTOCOL } from "../../../lib/environment/search_qa/protocol.ts";
import { searchQaEnvironment } from "../../../lib/environment/search_qa/rollout.ts";
import { MICRO_PROTOCOL } from "../../../recipes/inspo/micro_settings.ts";
import { randomStream } from "../../../lib/random/stream.ts";
import { scriptedPolicy } from "../scripted_policy.ts";

test("createHopSearchWorld() is the same for the same seed and another for another", () => {
  const questions = (seed: number) =>
    createHopSearchWorld(seed).questions.test.map(({ question, goldAnswers }) => [question, goldAnswers]);
  expect(questions(1)).toEqual(questions(1));
  expect(questions(1)).not.toEqual(questions(2));
});

test("its splits are disjoint and have the same mix of hops", () => {
  const { train, verification, test: held } = createHopSearchWorld(3).questions;
  const all = [...train, ...verification, ...held];
  expect(all.length).toBe(700);
  expect(new Set(all.map(({ question }) => question)).size).toBe(700);
  for (const split of [train, verification, held]) {
    const shares = ["hop-1", "hop-2", "hop-3"].map((source) =>
      split.filter((task) => task.source === source).length / split.length
    );
    expect(shares).toEqual([0.3, 0.4, 0.3]);
  }
});

test("chaining one search a hop answers every question; one search with the whole question does not", async () => {
  const { questions, retriever } = createHopSearchWorld(5);
  const wordsOf = (content: string) => content.replace(/.*Question: /, "").replace(/\s*\?\s*$/, "").split(" ");
  const found = (segments: readonly { by: string; text: string }[]) =>
    segments.filter(({ by }) => by === "environment").map(({ text }) =>
      text.replace(/<\/?information>/g, "").trim().split(/\s+/).at(-1) as string
    );
  const chain = scriptedPolicy(({ prompt, segments }) => {
    const [subject, ...relations] = wordsOf(prompt[0].content);
    const values = found(segments);
    const hop = values.length;
    return hop < relations.length
      ? `<search> ${values.at(-1) ?? subject} ${relations[hop]} </search>`
      : `<answer> ${values.at(-1)} </answer>`;
  });
  const look = scriptedPolicy(({ prompt, segments }) => {
    const values = found(segments);
    return values.length === 0
      ? `<search> ${wordsOf(prompt[0].content).join(" ")} </search>`
      : `<answer> ${values[0]} </answer>`;
  });
  const score = async (policy: typeof chain) => {
    const environment = searchQaEnvironment(policy, retriever, MICRO_PROTOCOL);
    const requests = questions.test.map((task, seed) => ({ task, conditioning: { id: null, text: "step" }, seed }));
    const trajectories = await environment.rollout(requests, { temperature: 0 });
    return trajectories.reduce((sum, { reward }) => sum + reward, 0) / trajectories.length;
  };
  expect(await score(chain)).toBe(1);
  const looking = await score(look);
  expect(looking).toBeGreaterThan(0.28);
  expect(looking).toBeLessThan(0.42);
});

test("hopSearchTokenizer decodes what it encodes, and unknown words become <unk>", () => {
  expect(new Set(VOCABULARY).size).toBe(VOCABULARY.length);
  expect(VOCABULARY.length % 8).toBe(0);
  const text = VOCABULARY.join(" ");
  expect(hopSearchTokenizer.decode(hopSearchTokenizer.encode(text))).toBe(text);
  expect(hopSearchTokenizer.decode(hopSearchTokenizer.encode("Avero wibble?"))).toBe("Avero <unk> ?");
  const glued = hopSearchTokenizer.encode("\n\n<information>Avero river Belin</information>\n\n");
  expect(hopSearchTokenizer.decode(glued)).toBe("<information> Avero river Belin </information>");
  expect(hopSearchTokenizer.decode(hopSearchTokenizer.encode("<a<search>"))).toBe("<unk> <unk> <search>");
  expect(unknownWords("Avero wibble?")).toEqual(["wibble"]);
});

test("demonstrate() obeys the words that name a strategy with the prior's probability, and chains rarely unasked", () => {
  const stream = randomStream(1, "test");
  const asked = { chain: 0, all: 0 };
  const unasked = { chain: 0, all: 0 };
  for (let i = 0; i < 20_000; i++) {
    const { instruction, question, segments } = demonstrate(stream, DEFAULT_PRIOR);
    const hops = question.split(" ").length - 2;
    if (hops === 1) continue;
    const group = /\b(step|decompose)\b/.test(instruction) ? asked : unasked;
    if (/\b(memory|quick|search|lookup)\b/.test(instruction)) continue;
    group.all++;
    if (segments.filter(({ text }) => text.includes("<search>") && text.includes("</search>")).length === hops) {
      group.chain++;
    }
  }
  expect(asked.chain / asked.all).toBeCloseTo(0.6 + 0.4 * 0.005, 1);
  expect(unasked.chain / unasked.all).toBeLessThan(0.012);
});

test("the micro protocol is Search-R1's loop with shorter limits", () => {
  expect(MICRO_PROTOCOL).toMatchObject({
    maxTurns: SEARCH_QA_PROTOCOL.maxTurns,
    forcedFinalTurn: true,
    turnEnd: "stop-at-action",
  });
});
