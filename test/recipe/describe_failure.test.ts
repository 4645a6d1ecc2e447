import { expect, test } from "vitest";
import type { Segment } from "../../lib/environment/policy.ts";
import { createHopSearchWorld } from "../../lib/environment/hop_search/world.ts";
import { searchQaEnvironment } from "../../lib/environment/search_qa/rollout.ts";
import { describeFailure } from "../../recipes/inspo/describe_failure.ts";
import { MICRO_PROTOCOL } from "../../recipes/inspo/micro_settings.ts";
import { scriptedPolicy } from "../environment/scripted_policy.ts";

const { questions, retriever } = createHopSearchWorld(1);
const [task] = questions.test;

test("describeFailure() tells a rollout's queries, observations and answer apart", async () => {
  const searches = (segments: readonly Segment[]) => segments.filter(({ by }) => by === "environment").length;
  const policy = scriptedPolicy(({ segments }) =>
    searches(segments) < 2 ? `<search> ${task.question} ${searches(segments)} </search>` : "<answer> nowhere </answer>"
  );
  const environment = searchQaEnvironment(policy, retriever, MICRO_PROTOCOL);
  const request = { task, conditioning: { id: "i3", text: "step only" }, seed: 1 };
  const [trajectory] = await environment.rollout([request], { temperature: 0 });
  const failure = describeFailure(trajectory);
  expect(failure).toMatchObject({
    instruction: "step only",
    question: task.question,
    goldAnswers: task.goldAnswers,
    answer: "nowhere",
    queries: [`${task.question} 0`, `${task.question} 1`],
  });
  expect(failure.observations).toHaveLength(2);
  for (const observation of failure.observations) {
    expect(observation).toMatch(/^<information>.*<\/information>$/s);
    expect(failure.transcript).toContain(observation);
  }
});

test("describeFailure() has no answer and no query of a policy that only talks", async () => {
  const environment = searchQaEnvironment(scriptedPolicy(() => "well"), retriever, MICRO_PROTOCOL);
  const request = { task, conditioning: { id: null, text: "step" }, seed: 1 };
  const [trajectory] = await environment.rollout([request], { temperature: 0 });
  expect(describeFailure(trajectory)).toMatchObject({ answer: null, queries: [] });
});
