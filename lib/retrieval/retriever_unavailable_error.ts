/** Why a retrieval server gave no result. */
export type UnavailableReason = "timeout" | "unreachable" | "server-error" | "refused" | "unreadable";

const ADVICE: Record<UnavailableReason, string> = {
  "timeout": "Is the server overloaded? Raise the timeout, or send fewer queries at a time",
  "unreachable":
    "Start the server (scripts/serve_retriever.ts, or Search-R1's retrieval_launch.sh) and check the address",
  "server-error": "Read the server's log: it met an error of its own",
  "refused": "Check that the address is that of a Search-R1 retrieval server and that topK is one it accepts",
  "unreadable": "Check that the address is that of a server with Search-R1's POST /retrieve contract",
};

/** A retrieval server could not be reached, did not answer in time, or answered something else than results. */
export class RetrieverUnavailableError extends Error {
  /** The class's name, for logs. */
  override name = "RetrieverUnavailableError";
  /** HTTP status of the last reply, or null if there was none. */
  readonly status: number | null;

  /**
   * Builds the message from what went wrong and what the reader can do.
   *
   * @param url the address that was asked
   * @param attempts how often it was asked
   * @param what what went wrong, without an end mark
   */
  constructor(
    readonly url: string,
    readonly reason: UnavailableReason,
    readonly attempts: number,
    what: string,
    details: ErrorOptions & { status?: number } = {},
  ) {
    const times = attempts === 1 ? "" : ` in ${attempts} attempts`;
    super(`Cannot retrieve documents from ${url}${times}: ${what}. ${ADVICE[reason]}.`, { cause: details.cause });
    this.status = details.status ?? null;
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return this.reason === "timeout" || this.reason === "unreachable" || this.reason === "server-error";
  }
}
