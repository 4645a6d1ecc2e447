import type { ChatClient } from "../api/chat_client.ts";
import type { ChatReply } from "../api/chat.ts";
import type { Message } from "../engine/engine.ts";
import type { Context, GenerateOptions, Policy, Segment } from "./policy.ts";

/** Most stop texts that the chat-completions API takes. */
const MAX_STOP_TEXTS = 4;
const CHARACTERS_PER_TOKEN = 4;

/** Settings of a chat policy. */
export interface ChatPolicyOptions {
  /** What its calls are for, in the call log; default `policy`. */
  key?: string;
}

/**
 * A frozen model behind a chat-completions endpoint as a policy: it acts, but cannot be trained, as its segments have no
 * tokens.
 *
 * A context becomes a conversation: the prompt, then the policy's segments as the assistant's turns and the
 * environment's as the user's. All contexts of a batch are asked at once, within the client's limits. If one call
 * fails, those not yet sent are given up, and `generate` throws when the others have ended.
 *
 * A seed is sent with each request, but servers may ignore it.
 */
export function chatPolicy(client: ChatClient, options: ChatPolicyOptions = {}): Policy {
  const key = options.key ?? "policy";
  return {
    generate: (contexts, how) => generate(client, key, contexts, how),
    observe: (text) => Promise.resolve({ by: "environment", text }),
    shorten: (text, maxTokens) => Promise.resolve(text.slice(0, maxTokens * CHARACTERS_PER_TOKEN).toWellFormed()),
  };
}

async function generate(
  client: ChatClient,
  key: string,
  contexts: readonly Context[],
  options: GenerateOptions,
): Promise<Segment[]> {
  if (options.seeds.length !== contexts.length) {
    throw new RangeError(
      `Cannot generate for ${contexts.length} contexts with ${options.seeds.length} seeds: need one for each`,
    );
  }
  const stop = options.stop ?? [];
  const sentStop = stop.length <= MAX_STOP_TEXTS ? stop : [];
  const failure = new AbortController();
  const outcomes = await Promise.allSettled(contexts.map(async (context, index): Promise<Segment> => {
    try {
      const reply = await client.complete({
        messages: conversation(context),
        maxTokens: options.maxTokens,
        temperature: options.temperature,
        topP: options.topP,
        stop: sentStop.length === 0 ? undefined : sentStop,
        seed: options.seeds[index],
        key,
        signal: failure.signal,
      });
      return { by: "policy", ...endAtStop(reply, stop, sentStop) };
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  }));
  // The reason is the first failure in time; calls that were given up for it carry the same.
  if (failure.signal.aborted) throw failure.signal.reason;
  return outcomes.flatMap((outcome) => outcome.status === "fulfilled" ? [outcome.value] : []);
}

/** Neighbouring segments of one side are one turn, since many chat templates want strict alternation. */
function conversation({ prompt, segments }: Context): Message[] {
  const turns: Message[] = [];
  for (const { by, text } of segments) {
    const role = by === "policy" ? "assistant" : "user";
    const last = turns.at(-1);
    if (last?.role === role) last.content += text;
    else if (text !== "") turns.push({ role, content: text });
  }
  return [...prompt, ...turns];
}

/** The text up to and with its first stop text, which servers drop and some ignore. */
function endAtStop(
  reply: ChatReply,
  stop: readonly string[],
  sentStop: readonly string[],
): { text: string; finish: "stop" | "length" } {
  const text = reply.text === "" ? reply.refusal ?? "" : reply.text;
  const cut = cutBehindFirst(text, stop);
  if (cut !== null) return { text: cut, finish: "stop" };
  if (reply.finish === "length") return { text, finish: "length" };
  return { text: text + droppedStop(text, reply.stopText, sentStop), finish: "stop" };
}

function cutBehindFirst(text: string, stop: readonly string[]): string | null {
  const ends = stop.flatMap((each) => {
    const start = each === "" ? -1 : text.indexOf(each);
    return start < 0 ? [] : [{ start, end: start + each.length }];
  });
  if (ends.length === 0) return null;
  return text.slice(0, ends.reduce((first, each) => each.end < first.end ? each : first).end);
}

/**
 * The stop text that a server took off the end. Where the server does not tell, it is the closing tag of the tag that was
 * opened last and not closed; a model that ended by itself inside a tag cannot be told from that.
 */
function droppedStop(text: string, told: string | null | undefined, sentStop: readonly string[]): string {
  if (told !== undefined) return told !== null && sentStop.includes(told) ? told : "";
  const open = sentStop.flatMap((closing) => {
    const position = closing.startsWith("</") ? text.lastIndexOf(`<${closing.slice(2)}`) : -1;
    return position < 0 ? [] : [{ closing, position }];
  });
  return open.reduce((last, each) => each.position > last.position ? each : last, { closing: "", position: -1 })
    .closing;
}
