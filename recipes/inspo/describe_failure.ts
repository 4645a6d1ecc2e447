import { parseAction } from "../../lib/environment/search_qa/action.ts";
import type { QaTask } from "../../lib/environment/search_qa/task.ts";
import type { Trajectory } from "../../lib/environment/trajectory.ts";
import type { Failure } from "../../lib/reflector/reflector.ts";

/** A trajectory as a reflector reads it. */
export function describeFailure({ task, conditioning, exchanges, answer }: Trajectory<QaTask>): Failure {
  const segments = exchanges.flatMap((exchange) => exchange.segments);
  const queries = segments.flatMap(({ by, text }) => {
    const action = by === "policy" ? parseAction(text) : null;
    return action?.kind === "search" ? [action.query] : [];
  });
  return {
    instruction: conditioning.text,
    question: task.question,
    goldAnswers: task.goldAnswers,
    transcript: segments.map(({ text }) => text).join(" "),
    answer,
    queries,
    observations: segments.filter(({ by }) => by === "environment").map(({ text }) => text.trim()),
  };
}
