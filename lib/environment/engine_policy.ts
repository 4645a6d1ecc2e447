import type { Engine, Message } from "../engine/engine.ts";
import type { Context, GenerateOptions, Policy, Segment } from "./policy.ts";

/** How a running context is kept within the model's reach. */
export interface ContextWindow {
  /** Most tokens of prompt and segments that the model reads; null: its context length. */
  maxTokens: number | null;
  /** `stop`: a full context ends the trajectory. `cut-left`: the oldest tokens are dropped (Search-R1's rolling context). */
  overflow: "stop" | "cut-left";
}

/** A window whose length is known. */
type ResolvedWindow = ContextWindow & { maxTokens: number };

/**
 * The policy that an engine's current weights make.
 *
 * @param window default: the engine's context length, a full context ends the trajectory
 */
export function enginePolicy(engine: Engine, window: ContextWindow = { maxTokens: null, overflow: "stop" }): Policy {
  // One token must be left for what the policy writes.
  const longest = engine.info.contextLength - 1;
  const limit: ResolvedWindow = { ...window, maxTokens: Math.min(window.maxTokens ?? longest, longest) };
  const tokenizer = rememberingTokenizer(engine);
  return {
    generate: (contexts, options) => generate(engine, tokenizer, limit, contexts, options),
    observe: async (text) => ({ by: "environment", text, tokens: await tokenizer.text(text) }),
    shorten: async (text, maxTokens) => {
      const tokens = await tokenizer.text(text);
      return tokens.length <= maxTokens ? text : await engine.decode(tokens.slice(0, maxTokens));
    },
  };
}

/** An engine's tokenizer for texts that are asked for again at once. */
interface RememberingTokenizer {
  prompt(messages: readonly Message[]): Promise<Int32Array>;
  text(text: string): Promise<Int32Array>;
}

/** A trajectory's prompt is read at every turn, and a tool's reply is measured before it is appended. */
function rememberingTokenizer(engine: Engine): RememberingTokenizer {
  const prompts = new WeakMap<readonly Message[], Int32Array>();
  let last: { text: string; tokens: Int32Array } | null = null;
  return {
    prompt: async (messages) => {
      const tokens = prompts.get(messages) ?? await engine.encode(messages);
      prompts.set(messages, tokens);
      return tokens;
    },
    text: async (text) => {
      if (last?.text !== text) last = { text, tokens: await engine.encode(text) };
      return last.tokens;
    },
  };
}

async function generate(
  engine: Engine,
  tokenizer: RememberingTokenizer,
  window: ResolvedWindow,
  contexts: readonly Context[],
  options: GenerateOptions,
): Promise<Segment[]> {
  const prompts = await Promise.all(contexts.map((context) => contextTokens(tokenizer, context, window)));
  const open = prompts.flatMap((tokens, index) => tokens === null ? [] : [{ index, tokens }]);
  const segments: Segment[] = contexts.map(() => emptySegment());
  if (open.length === 0) return segments;
  const samples = await engine.sample(open.map(({ tokens }) => tokens), {
    maxTokens: options.maxTokens,
    temperature: options.temperature,
    topP: options.topP,
    stop: options.stop,
    seeds: open.map(({ index }) => options.seeds[index]),
  });
  for (const [i, { index }] of open.entries()) {
    const [{ tokens, logprobs, finish }] = samples[i];
    segments[index] = { by: "policy", text: await engine.decode(tokens), tokens, logprobs, finish };
  }
  return segments;
}

/** All tokens of a context, or null where it is full. */
async function contextTokens(
  tokenizer: RememberingTokenizer,
  context: Context,
  window: ResolvedWindow,
): Promise<Int32Array | null> {
  const tokens = concatenate([await tokenizer.prompt(context.prompt), ...context.segments.map(tokensOf)]);
  if (tokens.length <= window.maxTokens) return tokens;
  return window.overflow === "stop" ? null : tokens.slice(tokens.length - window.maxTokens);
}

/** The tokens of a segment. @throws {TypeError} if a policy without tokenizer made it */
export function tokensOf(segment: Segment): Int32Array {
  if (segment.tokens === undefined) {
    throw new TypeError("Cannot use a segment without tokens: it was written by a policy without tokenizer");
  }
  return segment.tokens;
}

/** The arrays one after another. */
export function concatenate(arrays: readonly Int32Array[]): Int32Array {
  const result = new Int32Array(arrays.reduce((sum, array) => sum + array.length, 0));
  let offset = 0;
  for (const array of arrays) {
    result.set(array, offset);
    offset += array.length;
  }
  return result;
}

function emptySegment(): Segment {
  return { by: "policy", text: "", tokens: new Int32Array(0), logprobs: new Float32Array(0), finish: "full" };
}
