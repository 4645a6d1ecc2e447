import type { Failure, ReflectionRequest } from "../../lib/reflector/reflector.ts";

/** A failed attempt for tests. */
export function failureFor(question: string, more: Partial<Failure> = {}): Failure {
  return {
    instruction: "Answer briefly.",
    question,
    goldAnswers: ["Paris", "City of Paris"],
    transcript: `<think>hm</think><answer>Rome</answer> (${question})`,
    answer: "Rome",
    queries: ["q1"],
    observations: ["o1"],
    ...more,
  };
}

/** A request for tests. */
export function requestFor(seed: number, more: Partial<ReflectionRequest> = {}): ReflectionRequest {
  return {
    parents: ["Answer briefly."],
    failures: [failureFor(`Question ${seed}?`)],
    candidates: 3,
    constraints: ["Keep one example."],
    seed,
    ...more,
  };
}
