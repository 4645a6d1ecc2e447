import type { Failure } from "../../lib/reflector/reflector.ts";

/** A failed hop-search trajectory of two hops that searched once; with `patch`, another one. */
export function hopFailure(patch: Partial<Failure> = {}): Failure {
  return {
    instruction: "please carefully",
    question: "Avero capital rival ?",
    goldAnswers: ["Belin"],
    transcript: "",
    answer: "Cador",
    queries: ["Avero capital rival"],
    observations: ["<information>Avero capital Cador</information>"],
    ...patch,
  };
}
