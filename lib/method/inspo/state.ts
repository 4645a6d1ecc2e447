import { z } from "zod";
import { type FailureBuffer, failureBuffer } from "./failure_buffer.ts";
import type { Member } from "./population.ts";

/** Everything INSPO knows besides the weights of the policy. */
export interface InspoState {
  /** Batches learned from so far. */
  updates: number;
  /** Instructions created so far; the next one's id is `i<created>`. */
  created: number;
  /** Calls to a language model for new instructions. */
  optimizerCalls: number;
  population: readonly Member[];
  failures: FailureBuffer;
}

const failure = z.object({
  instruction: z.string(),
  question: z.string(),
  goldAnswers: z.array(z.string()),
  transcript: z.string(),
  answer: z.string().nullable(),
  queries: z.array(z.string()),
  observations: z.array(z.string()),
  instructionId: z.string(),
  step: z.number(),
});

const savedState = z.object({
  updates: z.number(),
  created: z.number(),
  optimizerCalls: z.number(),
  population: z.array(z.object({
    id: z.string(),
    text: z.string(),
    weight: z.number(),
    uses: z.number(),
    born: z.number(),
    origin: z.enum(["seed", "initial", "reflection"]),
    parents: z.array(z.string()),
  })),
  failures: z.array(failure),
});

/** The state that a checkpoint holds. @throws {z.ZodError} if it is not one of INSPO's */
export function restoreState(saved: unknown, bufferCapacity: number): InspoState {
  const { failures, ...state } = savedState.parse(saved);
  return { ...state, failures: failureBuffer(bufferCapacity, failures) };
}
