import type { Message } from "../engine/engine.ts";

/** One call of a chat-completions model. Every field but `signal` is part of what identifies the call in a call log. */
export interface ChatRequest {
  messages: readonly Message[];
  /** Most tokens of the reply. */
  maxTokens: number;
  /** Absent: the server's own default, the only value that some reasoning models accept. */
  temperature?: number;
  topP?: number;
  /** At most four texts (limit of the API) that end the reply. */
  stop?: readonly string[];
  /** Sent to the server, which may ignore it; also separates samples of one prompt in a call log. */
  seed?: number;
  /** What the call is for. Calls that are equal in all else but differ in their key are made separately. */
  key: string;
  /** Once aborted, a call that was not sent yet is not sent. One that was sent is paid for, so it is finished. */
  signal?: AbortSignal;
}

/** Tokens and money of one or several calls. */
export interface ChatUsage {
  inputTokens: number;
  outputTokens: number;
  /** US dollars, or null where no prices were given. */
  costUsd: number | null;
  /** The server did not count (any of) the tokens; four characters were taken as one. */
  isEstimated: boolean;
}

/** What a model answered. */
export interface ChatReply {
  text: string;
  /** The model's reason for not answering, where the server reports one apart from the text. */
  refusal: string | null;
  finish: "stop" | "length" | "filtered";
  /**
   * The stop text that ended the reply, null where the model ended it itself. Absent where the server does not say:
   * only vLLM (`stop_reason`) and SGLang (`matched_stop`) do.
   */
  stopText?: string | null;
  /** The model's name as the server gives it; for an alias, the dated name behind it. */
  model: string;
  usage: ChatUsage;
}

/** A call to a model that gave no usable reply. */
export class ChatError extends Error {
  override name = "ChatError";
  /**
   * @param reason `timeout`; `unreachable`: no connection, or 429 and 5xx until the last try; `rejected`: another HTTP
   *   error, so the request or the settings are wrong; `unreadable`: not a chat completion, or not the JSON asked for;
   *   `refused`: by the model or a content filter
   * @param status HTTP status, where there was one
   */
  constructor(
    message: string,
    readonly reason: "timeout" | "unreachable" | "rejected" | "unreadable" | "refused",
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
