import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from "openai";
import { z } from "zod";
import { boundedFetch, ReplyTooLongError } from "./bounded_fetch.ts";
import { ChatError, type ChatReply, type ChatRequest, type ChatUsage } from "./chat.ts";
import type { Endpoint } from "./endpoint.ts";

/** How a call is made over HTTP. */
export interface TransportOptions {
  /** Milliseconds that one try may take. */
  timeoutMs: number;
  /** Milliseconds that a call may take with all its tries and the pauses between them. */
  totalMs: number;
  /** Tries after the first, on 429, 5xx, timeouts and lost connections. */
  retries: number;
  /** Longest reply that is read. */
  maxReplyBytes: number;
}

/** Answers of a JSON schema as the openai package describes them. */
export type ResponseFormat = OpenAI.ResponseFormatJSONSchema;

/** A reply before its cost is known. */
export type UnpricedReply = Omit<ChatReply, "usage"> & { usage: Omit<ChatUsage, "costUsd"> };

/** Makes one call. @throws {ChatError} */
export type SendChat = (request: ChatRequest, format?: ResponseFormat) => Promise<UnpricedReply>;

/**
 * Chat completions over the openai package, which retries with exponential backoff or after the server's `Retry-After`
 * (up to a minute; a longer one is taken as none).
 */
export function chatTransport(model: string, endpoint: Endpoint, options: TransportOptions): SendChat {
  const client = new OpenAI({
    apiKey: endpoint.apiKey,
    baseURL: endpoint.baseUrl,
    timeout: options.timeoutMs,
    maxRetries: options.retries,
    fetch: boundedFetch(options.maxReplyBytes),
    // The package would write warnings to the console; errors reach the caller anyhow.
    logLevel: "off",
  });
  const { origin, hostname } = new URL(endpoint.baseUrl);
  return async (request, format) => {
    const clock = new AbortController();
    const timer = setTimeout(() => clock.abort(), options.totalMs);
    try {
      const body = requestBody(model, request, hostname === "api.openai.com", format);
      return readCompletion(await client.chat.completions.create(body, { signal: clock.signal }), request, model);
    } catch (error) {
      throw chatError(error, `Cannot get a reply from "${model}" at ${origin}`, options);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** OpenAI's newer models refuse `max_tokens`; other servers may not know its successor. */
function requestBody(
  model: string,
  request: ChatRequest,
  isOpenai: boolean,
  format?: ResponseFormat,
): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return {
    model,
    messages: request.messages.map(({ role, content }) => ({ role, content })),
    ...(isOpenai ? { max_completion_tokens: request.maxTokens } : { max_tokens: request.maxTokens }),
    temperature: request.temperature,
    top_p: request.topP,
    stop: request.stop === undefined || request.stop.length === 0 ? undefined : [...request.stop],
    seed: request.seed,
    response_format: format,
  };
}

const completion = z.object({
  model: z.string().nullish(),
  choices: z.array(z.object({
    message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
    finish_reason: z.string().nullish(),
    stop_reason: z.unknown().optional(),
    matched_stop: z.unknown().optional(),
  })).min(1),
  usage: z.object({
    prompt_tokens: z.number().int().nonnegative(),
    completion_tokens: z.number().int().nonnegative(),
  }).nullish(),
});

type Choice = z.infer<typeof completion>["choices"][number];

function readCompletion(body: unknown, request: ChatRequest, model: string): UnpricedReply {
  const result = completion.safeParse(body);
  if (!result.success) {
    throw new SyntaxError(`what it sent is not a chat completion (${briefly(z.prettifyError(result.error))})`);
  }
  const { choices: [choice], usage, model: servedModel } = result.data;
  const text = choice.message.content ?? "";
  return {
    text,
    refusal: choice.message.refusal || null,
    finish: finishOf(choice),
    stopText: stopTextOf(choice),
    model: servedModel ?? model,
    usage: usage
      ? { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens, isEstimated: false }
      : estimatedTokens(request, text),
  };
}

function finishOf({ finish_reason: reason }: Choice): ChatReply["finish"] {
  return reason === "length" ? "length" : reason === "content_filter" ? "filtered" : "stop";
}

/** A number there is the id of the model's own end token. */
function stopTextOf(choice: Choice): string | null | undefined {
  const said = choice.stop_reason !== undefined ? choice.stop_reason : choice.matched_stop;
  return said === undefined ? undefined : typeof said === "string" ? said : null;
}

function estimatedTokens({ messages }: ChatRequest, text: string): Omit<ChatUsage, "costUsd"> {
  const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
  return { inputTokens: Math.ceil(characters / 4), outputTokens: Math.ceil(text.length / 4), isEstimated: true };
}

/** What went wrong, in this module's terms; errors of other origin are bugs and pass. */
function chatError(error: unknown, what: string, { timeoutMs, totalMs, retries }: TransportOptions): unknown {
  const tries = retries === 0 ? "1 try" : `${retries + 1} tries`;
  if (error instanceof APIUserAbortError) {
    return new ChatError(`${what}: no reply within ${totalMs} ms in all`, "timeout", undefined, { cause: error });
  }
  if (error instanceof APIConnectionTimeoutError) {
    return new ChatError(`${what}: no reply within ${timeoutMs} ms (${tries})`, "timeout", undefined, { cause: error });
  }
  if (error instanceof ReplyTooLongError || error instanceof SyntaxError) {
    return new ChatError(`${what}: ${briefly(error.message)}`, "unreadable", undefined, { cause: error });
  }
  if (error instanceof APIConnectionError) {
    return new ChatError(`${what}: no connection (${tries}); is the server running?`, "unreachable", undefined, {
      cause: error,
    });
  }
  if (error instanceof APIError && error.status !== undefined) {
    const isPassing = error.status === 408 || error.status === 409 || error.status === 429 || error.status >= 500;
    const message = `${what}: ${briefly(error.message)}${isPassing ? ` (${tries})` : remedyFor(error.status)}`;
    return new ChatError(message, isPassing ? "unreachable" : "rejected", error.status, { cause: error });
  }
  return error;
}

/** What a user can do about a status that trying again will not change. */
function remedyFor(status: number): string {
  if (status === 401 || status === 403) return "; check the environment variable OPENAI_API_KEY";
  if (status === 404) {
    return "; check the model's name, and that OPENAI_BASE_URL ends as the server wants it (mostly /v1)";
  }
  return "";
}

function briefly(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 300 ? line : `${line.slice(0, 300)}…`;
}
