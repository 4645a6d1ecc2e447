import type { Context, GenerateOptions, Policy } from "../../lib/environment/policy.ts";

/** A policy that says what a script tells it to, counts tokens as words, and remembers what it was asked. */
export function scriptedPolicy(
  say: (context: Context, turn: number) => string,
): Policy & { asked: { contexts: readonly Context[]; options: GenerateOptions }[] } {
  const asked: { contexts: readonly Context[]; options: GenerateOptions }[] = [];
  const ids = new Map<string, number>();
  const tokenise = (text: string) =>
    Int32Array.from(text.match(/\S+/g) ?? [], (word) => {
      if (!ids.has(word)) ids.set(word, ids.size);
      return ids.get(word) as number;
    });
  return {
    asked,
    generate: (contexts, options) => {
      asked.push({ contexts: contexts.map(({ prompt, segments }) => ({ prompt, segments: [...segments] })), options });
      return Promise.resolve(contexts.map((context) => {
        const text = say(context, context.segments.filter(({ by }) => by === "policy").length);
        const tokens = tokenise(text);
        return { by: "policy", text, tokens, logprobs: new Float32Array(tokens.length).fill(-0.5), finish: "stop" };
      }));
    },
    observe: (text) => Promise.resolve({ by: "environment", text, tokens: tokenise(text) }),
    shorten: (text, maxTokens) => {
      const words = text.match(/\s*\S+/g) ?? [];
      return Promise.resolve(words.length <= maxTokens ? text : words.slice(0, maxTokens).join(""));
    },
  };
}
