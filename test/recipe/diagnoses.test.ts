import { expect, test } from "vitest";
import { HOP_SEARCH_DIAGNOSES } from "../../recipes/inspo/diagnoses.ts";
import { hopFailure } from "../reflector/hop_failure.ts";

test.each([
  ["unfinished", { answer: null }],
  ["format", { answer: "probably Cador" }],
  ["no search", { queries: [], observations: [] }],
  ["too few searches", {}],
  ["wrong document", { question: "Avero capital ?", observations: ["<information>Avero rival Cador</information>"] }],
  ["other", { question: "Avero capital ?" }],
])("HOP_SEARCH_DIAGNOSES sees %s", (name, patch) => {
  expect(HOP_SEARCH_DIAGNOSES.find(({ applies }) => applies(hopFailure(patch)))?.name).toBe(name);
});
