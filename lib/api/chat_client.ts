import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { type CallLog, requestHash } from "./call_log.ts";
import { ChatError, type ChatReply, type ChatRequest, type ChatUsage } from "./chat.ts";
import { chatTransport, type ResponseFormat } from "./chat_transport.ts";
import { concurrencyLimit, type RunLimited } from "./concurrency_limit.ts";
import { resolveEndpoint } from "./endpoint.ts";
import { jsonObjects } from "./json_object.ts";
import { addUsage, createLedger, type Ledger, type Prices, type Spending, type SpendingLimits } from "./spending.ts";

/** Characters of an unusable reply that are shown to the model when it is asked again. */
const QUOTED_CHARACTERS = 4_000;

/** Settings of a client. */
export interface ChatClientOptions {
  model: string;
  /** Default: `OPENAI_BASE_URL`, else OpenAI's own. */
  baseUrl?: string;
  /** Default: `OPENAI_API_KEY`. A server on this machine needs none. */
  apiKey?: string;
  /** Milliseconds that one try may take. */
  timeoutMs: number;
  /** Milliseconds that a call may take in all; default: `timeoutMs` for each try. Time spent in the queue is not counted. */
  totalMs?: number;
  /** Tries after the first, on 429, 5xx, timeouts and lost connections. */
  retries: number;
  /** Most calls under way at a time. */
  concurrency: number;
  limits: SpendingLimits;
  /** Without them costs are null. */
  prices?: Prices;
  /** Calls in it are answered from it, free of charge, and count in the limits; new ones are added. */
  log?: CallLog;
  /** Longest reply that is read; default 1 MiB. */
  maxReplyBytes?: number;
  /** Whether {@link ChatClient.parse} sends its schema as `response_format`; default true. Some servers reject it. */
  structuredOutput?: boolean;
}

/** A request for an object. */
export interface ParseRequest<T> extends ChatRequest {
  /** All fields required, as structured output wants it; the messages should describe it too. */
  schema: z.ZodType<T>;
  /** Name of the schema that the model sees. */
  schemaName: string;
}

/** An object that a model answered with. */
export interface ParsedReply<T> {
  value: T;
  /** Calls that it took: 1, or 2 where the first reply was unusable. */
  calls: number;
  usage: ChatUsage;
}

/** A language model behind a chat-completions endpoint, within a budget. */
export interface ChatClient {
  readonly model: string;
  /**
   * One reply.
   *
   * @throws {BudgetExhaustedError} before the call is sent
   * @throws {ChatError} if there is no usable reply
   */
  complete(request: ChatRequest): Promise<ChatReply>;
  /**
   * An object by a schema. The first JSON object of the reply that fits is taken, so a server without structured
   * output will do. An unusable reply is sent back once, with what is wrong about it.
   *
   * @throws {BudgetExhaustedError} before a call is sent
   * @throws {ChatError} `unreadable` if the second reply is unusable too, `refused` if the model or a filter refused
   */
  parse<T>(request: ParseRequest<T>): Promise<ParsedReply<T>>;
  /** Another model of the same server, within the same limits: both share call log, budget and places, and the prices. */
  forModel(model: string): ChatClient;
  spending(): Spending;
}

/** What the clients of several models have in common. */
interface Shared {
  options: ChatClientOptions;
  ledger: Ledger;
  runLimited: RunLimited;
  /** Calls by the hash of their request, so that two equal ones at a time are made once. */
  underWay: Map<string, Promise<ChatReply>>;
}

/**
 * A client of one model.
 *
 * @throws {TypeError} if the address is no HTTP URL, or the API key is missing
 * @throws {RangeError} on settings out of range, or a cost limit without prices
 */
export function createChatClient(options: ChatClientOptions): ChatClient {
  const { model, log } = options;
  checkWhole("timeoutMs", options.timeoutMs, 1);
  checkWhole("retries", options.retries, 0);
  const paid = [...log?.replies() ?? []].map(({ usage }) => usage);
  return clientOf(model, {
    options,
    ledger: createLedger(model, options.limits, options.prices, paid),
    runLimited: concurrencyLimit(options.concurrency),
    underWay: new Map(),
  });
}

function clientOf(model: string, shared: Shared): ChatClient {
  const { options, ledger, runLimited, underWay } = shared;
  const { timeoutMs, retries, log } = options;
  const send = chatTransport(model, resolveEndpoint(model, options), {
    timeoutMs,
    totalMs: options.totalMs ?? timeoutMs * (retries + 1),
    retries,
    maxReplyBytes: options.maxReplyBytes ?? 2 ** 20,
  });

  const call = (request: ChatRequest, format?: ResponseFormat) =>
    runLimited(async (): Promise<ChatReply> => {
      request.signal?.throwIfAborted();
      ledger.admit();
      const reply = await send(request, format);
      return { ...reply, usage: ledger.charge(reply.usage) };
    });

  const callOnce = async (log: CallLog, request: ChatRequest, format?: ResponseFormat): Promise<ChatReply> => {
    const hash = requestHash(model, request, format);
    const known = log.get(hash) ?? underWay.get(hash);
    if (known !== undefined) {
      const reply = await known;
      ledger.reuse();
      return reply;
    }
    const pending = call(request, format).then((reply) => {
      log.add({ hash, key: request.key, reply });
      return reply;
    });
    underWay.set(hash, pending);
    try {
      return await pending;
    } finally {
      underWay.delete(hash);
    }
  };

  const complete = (request: ChatRequest, format?: ResponseFormat) =>
    log === undefined ? call(request, format) : callOnce(log, request, format);
  return {
    model,
    complete: (request) => complete(request),
    parse: (request) => parse(request, complete, { model, structuredOutput: options.structuredOutput }),
    forModel: (other) => clientOf(other, shared),
    spending: ledger.totals,
  };
}

type Complete = (request: ChatRequest, format?: ResponseFormat) => Promise<ChatReply>;

async function parse<T>(
  request: ParseRequest<T>,
  complete: Complete,
  { model, structuredOutput }: Pick<ChatClientOptions, "model" | "structuredOutput">,
): Promise<ParsedReply<T>> {
  const { schema, schemaName, ...chat } = request;
  const format = structuredOutput === false ? undefined : zodResponseFormat(schema, schemaName);
  const first = await complete(chat, format);
  const reading = readObject(first, schema, model);
  if (reading.ok) return { value: reading.value, calls: 1, usage: first.usage };

  const second = await complete(
    { ...chat, messages: [...chat.messages, ...complaint(first, reading.problem)] },
    format,
  );
  const again = readObject(second, schema, model);
  if (again.ok) return { value: again.value, calls: 2, usage: addUsage(first.usage, second.usage) };
  throw new ChatError(`Cannot use what "${model}" answered, also when asked again: ${again.problem}`, "unreadable");
}

function readObject<T>(
  reply: ChatReply,
  schema: z.ZodType<T>,
  model: string,
): { ok: true; value: T } | { ok: false; problem: string } {
  if (reply.refusal !== null) {
    throw new ChatError(`"${model}" refused to answer: ${reply.refusal.slice(0, 300)}`, "refused");
  }
  if (reply.finish === "filtered") {
    throw new ChatError(`The reply of "${model}" was withheld by a content filter`, "refused");
  }
  let problem: string | null = null;
  for (const object of jsonObjects(reply.text)) {
    const result = schema.safeParse(object);
    if (result.success) return { ok: true, value: result.data };
    problem ??= `the JSON does not fit: ${z.prettifyError(result.error).slice(0, 500)}`;
  }
  if (reply.finish === "length") {
    return { ok: false, problem: `the reply was cut off at ${reply.usage.outputTokens} tokens; it must be shorter` };
  }
  return { ok: false, problem: problem ?? "it holds no JSON object" };
}

function complaint(reply: ChatReply, problem: string): ChatRequest["messages"] {
  return [
    { role: "assistant", content: reply.text.slice(0, QUOTED_CHARACTERS).toWellFormed() || "(nothing)" },
    { role: "user", content: `Your reply could not be used: ${problem}. Answer again with the JSON object alone.` },
  ];
}

function checkWhole(name: string, value: number, minimum: number): void {
  if (!Number.isInteger(value) || value < minimum) {
    throw new RangeError(
      `Cannot make a chat client with ${name} = ${value}: need a whole number of at least ${minimum}`,
    );
  }
}
