/** A failed trajectory as a reflector reads it. */
export interface Failure {
  /** The instruction that the policy read. */
  instruction: string;
  question: string;
  goldAnswers: readonly string[];
  /** Everything behind the prompt, tool output included. */
  transcript: string;
  /** The policy's own answer, or null if it gave none. */
  answer: string | null;
  /** The queries it sent, in order. */
  queries: readonly string[];
  /** The tool's replies, in order. */
  observations: readonly string[];
}

/** What is asked of a reflector. */
export interface ReflectionRequest {
  /** The instructions to evolve from: one (INSPO's top-1), or several. */
  parents: readonly string[];
  failures: readonly Failure[];
  /** How many candidates to propose. */
  candidates: number;
  /** Rules that a candidate must keep, in words (e.g. that it may not contain an example answer tag). */
  constraints: readonly string[];
  /** Seed of the reflector's own choices. */
  seed: number;
}

/** A proposed instruction. */
export interface Candidate {
  instruction: string;
  /** Why: the fault that was seen in the failures. */
  diagnosis: string;
}

/** What a reflector answered. */
export interface Reflection {
  candidates: readonly Candidate[];
  /** Calls to a language model that this took. */
  calls: number;
  /** Tokens and money, where a language model was asked. */
  usage: { inputTokens: number; outputTokens: number; costUsd: number | null };
}

/**
 * Whoever writes new text. A reflector may fail ({@link ReflectorError}) or propose nothing; a method goes on without
 * new text then and records why.
 */
export interface Reflector {
  readonly name: string;
  reflect(request: ReflectionRequest): Promise<Reflection>;
}

/** A reflector could not answer: it timed out, or what it said could not be read. */
export class ReflectorError extends Error {
  override name = "ReflectorError";
  /** Calls to a language model that were made in vain. */
  readonly calls: number;
  /** @param reason one word for the journal */
  constructor(
    message: string,
    readonly reason: "timeout" | "unreachable" | "unreadable" | "refused",
    { calls = 1, ...options }: ErrorOptions & { calls?: number } = {},
  ) {
    super(message, options);
    this.calls = calls;
  }
}
