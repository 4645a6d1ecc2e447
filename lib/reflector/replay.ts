import { createHash } from "node:crypto";
import { existsSync, renameSync, statSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { appendJsonLine, mendLastLine, readJsonLines } from "../api/line_file.ts";
import { type Failure, type Reflection, type ReflectionRequest, type Reflector, ReflectorError } from "./reflector.ts";

const count = z.number().int().nonnegative();

/** What was asked, as hashes: enough to tell whether and where another request differs, without the data. */
const requestDigest = z.strictObject({
  hash: z.string(),
  parents: z.array(z.string()),
  failures: z.array(z.string()),
  candidates: count,
  constraints: z.string(),
  seed: z.number(),
});
type RequestDigest = z.infer<typeof requestDigest>;

const answer = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("reflection"),
    candidates: z.array(z.strictObject({ instruction: z.string(), diagnosis: z.string() })),
    calls: count,
    usage: z.strictObject({ inputTokens: count, outputTokens: count, costUsd: z.number().nullable() }),
  }),
  z.strictObject({
    kind: z.literal("error"),
    reason: z.enum(["timeout", "unreachable", "unreadable", "refused"]),
    message: z.string(),
    calls: count,
  }),
]);
type Answer = z.infer<typeof answer>;

/** A line of a recording: version 1. */
const recordedLine = z.strictObject({ v: z.literal(1), reflector: z.string(), request: requestDigest, answer });

/** Settings of a recording or a replay. */
export interface ReplayOptions {
  /**
   * The run goes on from a checkpoint. A recording continues its file, and drops from it what was recorded behind the
   * checkpoint; a replay begins at the line that answers the first request instead of the first line.
   */
  resumed?: boolean;
}

/** What to do where a recording does not answer what is asked. */
const REPLAY_REMEDY = "replay with the settings and the code of the recorded run, or record again";

/**
 * A reflector that also writes a recording: one JSON line for each request, in the order of the requests, with the
 * request's hash and the reply or the {@link ReflectorError}.
 *
 * @param path file of the recording; must be empty or absent, unless the run is resumed
 * @throws {Error} if there is a recording already
 */
export function recordingReflector(inner: Reflector, path: string, options: ReplayOptions = {}): Reflector {
  if (!options.resumed && existsSync(path) && statSync(path).size > 0) {
    throw new Error(
      `Cannot record to "${path}": it holds a recording already; give another file, or resume the run that wrote it`,
    );
  }
  mendLastLine(path);
  let mayRepeat = options.resumed === true;
  let previous: Promise<unknown> = Promise.resolve();
  return {
    name: inner.name,
    reflect: (request) => {
      const digest = digestOf(request);
      if (mayRepeat) dropFrom(path, digest.hash);
      mayRepeat = false;
      const asked = inner.reflect(request);
      const before = previous;
      const write = async (answer: Answer) => {
        await before;
        appendJsonLine(path, { v: 1, reflector: inner.name, request: digest, answer });
      };
      const recorded = asked.then(
        async (reflection) => {
          await write(reflectionAnswer(reflection));
          return reflection;
        },
        async (error) => {
          if (error instanceof ReflectorError) {
            await write({ kind: "error", reason: error.reason, message: error.message, calls: error.calls });
          }
          throw error;
        },
      );
      // The next line waits for this one, however it ended; the caller hears of a failure through `recorded`.
      previous = recorded.catch(() => undefined);
      return recorded;
    },
  };
}

/**
 * A reflector that answers from a recording, line by line; its name is the recorded one, as the text is that
 * reflector's. Recorded errors are thrown again.
 *
 * Its `reflect` throws an `Error` that is no {@link ReflectorError} where the request is not the recorded one, or there
 * are no more lines: a run that went on without the recorded text would be another run.
 *
 * @throws {SyntaxError} if the recording is damaged or empty
 */
export function replayReflector(path: string, options: ReplayOptions = {}): Reflector {
  const lines = readJsonLines(path, recordedLine);
  if (lines.length === 0) throw new SyntaxError(`Cannot replay "${path}": it is absent or empty; record it first`);
  let next = 0;
  let maySkip = options.resumed === true;
  const answerNext = (request: ReflectionRequest): Reflection => {
    const digest = digestOf(request);
    if (maySkip) next = Math.max(0, lines.findIndex((line) => line.request.hash === digest.hash));
    maySkip = false;
    if (next >= lines.length) {
      throw new Error(
        `Cannot replay "${path}": request ${next + 1} is behind its last line, ${lines.length}; ${REPLAY_REMEDY}`,
      );
    }
    const recorded = lines[next];
    if (recorded.request.hash !== digest.hash) {
      const difference = differences(recorded.request, digest).join(", ");
      throw new Error(
        `Cannot replay "${path}": the request differs from line ${next + 1} in ${difference}; ${REPLAY_REMEDY}`,
      );
    }
    next++;
    if (recorded.answer.kind === "error") {
      const { message, reason, calls } = recorded.answer;
      throw new ReflectorError(message, reason, { calls });
    }
    const { candidates, calls, usage } = recorded.answer;
    return { candidates, calls, usage };
  };
  return { name: lines[0].reflector, reflect: (request) => Promise.try(() => answerNext(request)) };
}

/** Rolls a recording back to before a request that is made again; the new file replaces the old one at once. */
function dropFrom(path: string, hash: string): void {
  const lines = readJsonLines(path, recordedLine);
  const repeated = lines.findIndex((line) => line.request.hash === hash);
  if (repeated < 0) return;
  const kept = lines.slice(0, repeated).map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(`${path}.new`, kept);
  renameSync(`${path}.new`, path);
}

function reflectionAnswer({ candidates, calls, usage }: Reflection): Answer {
  return {
    kind: "reflection",
    candidates: candidates.map(({ instruction, diagnosis }) => ({ instruction, diagnosis })),
    calls,
    usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, costUsd: usage.costUsd },
  };
}

function digestOf({ parents, failures, candidates, constraints, seed }: ReflectionRequest): RequestDigest {
  const parts = {
    parents: parents.map((text) => sha256(text).slice(0, 12)),
    failures: failures.map((failure) => sha256(failureFields(failure)).slice(0, 12)),
    candidates,
    constraints: sha256(constraints).slice(0, 12),
    seed,
  };
  return { hash: sha256(parts), ...parts };
}

function failureFields(
  { instruction, question, goldAnswers, transcript, answer, queries, observations }: Failure,
): unknown[] {
  return [instruction, question, goldAnswers, transcript, answer, queries, observations];
}

function sha256(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

function differences(recorded: RequestDigest, asked: RequestDigest): string[] {
  const found: string[] = [];
  for (const field of ["seed", "candidates"] as const) {
    if (recorded[field] !== asked[field]) found.push(`${field} (${recorded[field]} recorded, ${asked[field]} asked)`);
  }
  if (recorded.constraints !== asked.constraints) found.push("constraints");
  for (const field of ["parents", "failures"] as const) {
    const [was, is] = [recorded[field], asked[field]];
    if (was.length !== is.length) found.push(`number of ${field} (${was.length} recorded, ${is.length} asked)`);
    else {found.push(...is.flatMap((hash, index) =>
        hash === was[index] ? [] : [`${field} ${index + 1} of ${is.length}`]
      ));}
  }
  return found;
}
