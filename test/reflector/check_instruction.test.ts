import { describe, expect, test } from "vitest";
import { SEARCH_R1_INSTRUCTION } from "../../lib/environment/search_qa/prompt.ts";
import { checkInstruction } from "../../lib/reflector/check_instruction.ts";

const ONE = "Think, then answer. For example, <answer> Beijing </answer>.";

describe("checkInstruction()", () => {
  const cases: { title: string; text: string; promptAndResponse: true | RegExp; response: true | RegExp }[] = [
    { title: "no answer tag", text: "Answer the question.", promptAndResponse: /^0 example answers/, response: true },
    { title: "one example", text: ONE, promptAndResponse: true, response: true },
    { title: "Search-R1's own instruction", text: SEARCH_R1_INSTRUCTION, promptAndResponse: true, response: true },
    {
      title: "two examples",
      text: `${ONE} Or <answer>Rome</answer>.`,
      promptAndResponse: /^2 example answers/,
      response: true,
    },
    {
      title: "the tags named without example",
      text: "Answer inside <answer> and </answer>.",
      promptAndResponse: /^0 example/,
      response: true,
    },
    {
      title: "an example over two lines",
      text: "Write <answer>\nRome\n</answer>",
      promptAndResponse: true,
      response: true,
    },
    {
      title: "nested tags",
      text: "<answer> <answer> x </answer> </answer>",
      promptAndResponse: /^nested <answer>/,
      response: /^nested <answer>/,
    },
    {
      title: "an unclosed tag",
      text: `${ONE} Begin with <answer>.`,
      promptAndResponse: /^unclosed <answer>/,
      response: /^unclosed <answer>/,
    },
    {
      title: "a closing tag alone",
      text: "End with </answer>.",
      promptAndResponse: /^<\/answer> without/,
      response: /^<\/answer> without/,
    },
    {
      title: "an unbalanced search tag",
      text: `${ONE} <search> query`,
      promptAndResponse: /^unclosed <search>/,
      response: /^unclosed <search>/,
    },
    {
      title: "other angle brackets",
      text: `${ONE} If a < b, write <your query> or <br>.`,
      promptAndResponse: true,
      response: true,
    },
    {
      title: "capital tags, which no scorer reads",
      text: "Use <ANSWER> x </ANSWER>",
      promptAndResponse: /^0 example/,
      response: true,
    },
    { title: "nothing", text: " \n\t ", promptAndResponse: /^empty$/, response: /^empty$/ },
    { title: "a control character", text: `${ONE}\u0007`, promptAndResponse: /U\+0007/, response: /U\+0007/ },
    { title: "a lone surrogate", text: `${ONE}\ud83d.`, promptAndResponse: /surrogate/, response: /surrogate/ },
    {
      title: "too much",
      text: ONE + "x".repeat(4_000),
      promptAndResponse: /^too long: 4060 characters, at most 4000/,
      response: /^too long/,
    },
  ];

  for (const { title, text, promptAndResponse, response } of cases) {
    for (const [scope, expected] of [["prompt-and-response", promptAndResponse], ["response", response]] as const) {
      test(`${expected === true ? "accepts" : "refuses"} ${title} (scored: ${scope})`, () => {
        const check = checkInstruction(text, { answerTagScope: scope });
        if (expected === true) expect(check).toEqual({ ok: true, text: text.trim() });
        else expect(check).toEqual({ ok: false, reason: expect.stringMatching(expected) });
      });
    }
  }

  test("trims, takes Windows line ends, and lets the bound and the tags be chosen", () => {
    expect(checkInstruction("  a\r\nb ", { answerTagScope: "response" })).toEqual({ ok: true, text: "a\nb" });
    expect(checkInstruction("abcdef", { answerTagScope: "response", maxCharacters: 5 }).ok).toBe(false);
    expect(checkInstruction("write <plan>", { answerTagScope: "response", tags: ["plan"] }).ok).toBe(false);
  });
});
