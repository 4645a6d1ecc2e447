import { hashSeed } from "../../random/stream.ts";
import { exactMatch } from "../../reward/exact_match.ts";
import { extractAnswer } from "../../reward/extract_answer.ts";
import { formatPassages } from "../../retrieval/format_passages.ts";
import { textOf, titleOf } from "../../retrieval/document.ts";
import type { RetrievedDocument, Retriever } from "../../retrieval/retriever.ts";
import type { Context, Policy, Segment } from "../policy.ts";
import type { Decoding, Environment, RolloutRequest, Trajectory } from "../trajectory.ts";
import { cutTurn, parseAction } from "./action.ts";
import { observationText } from "./observation.ts";
import { searchQaPrompt } from "./prompt.ts";
import type { SearchQaProtocol } from "./protocol.ts";
import type { QaTask } from "./task.ts";

/** A trajectory while it runs. */
interface Attempt {
  request: RolloutRequest<QaTask>;
  context: Context & { segments: Segment[] };
  answer: string | null;
  isDone: boolean;
  /** The context has no room left: the trajectory ends without an answer. */
  isFull: boolean;
  turns: number;
  searches: number;
  validActions: number;
}

/**
 * Search-R1's multi-turn loop (generation.py): think, search and answer in turns; the retriever's passages and the
 * complaint about an invalid turn are appended as environment text, which takes no part in the loss.
 *
 * At most `maxTurns` turns, then one last generation without search for unfinished trajectories. All queries of a turn
 * go to the retriever in one call. The reward is exact match (0 or 1).
 */
export function searchQaEnvironment(
  policy: Policy,
  retriever: Retriever,
  protocol: SearchQaProtocol,
): Environment<QaTask> {
  return {
    async rollout(requests, decoding) {
      const attempts = requests.map(startAttempt);
      for (let turn = 0; turn < protocol.maxTurns; turn++) {
        const active = attempts.filter(isOpen);
        if (active.length === 0) break;
        await takeTurn(active, turn, decoding, policy, protocol);
        await respond(active, policy, retriever, protocol);
      }
      const unfinished = attempts.filter(isOpen);
      if (protocol.forcedFinalTurn && unfinished.length > 0) {
        await takeTurn(unfinished, protocol.maxTurns, decoding, policy, protocol);
        for (const attempt of unfinished.filter(isOpen)) applyFinalAction(attempt);
      }
      return attempts.map((attempt) => finish(attempt, protocol));
    },
  };
}

function startAttempt(request: RolloutRequest<QaTask>): Attempt {
  const prompt = searchQaPrompt(request.conditioning.text, request.task.question);
  return {
    request,
    context: { prompt, segments: [] },
    answer: null,
    isDone: false,
    isFull: false,
    turns: 0,
    searches: 0,
    validActions: 0,
  };
}

async function takeTurn(
  active: readonly Attempt[],
  turn: number,
  decoding: Decoding,
  policy: Policy,
  protocol: SearchQaProtocol,
): Promise<void> {
  const segments = await policy.generate(active.map((attempt) => attempt.context), {
    maxTokens: protocol.maxTurnTokens,
    temperature: decoding.temperature,
    topP: decoding.topP,
    stop: protocol.turnEnd === "stop-at-action" ? ["</search>", "</answer>"] : undefined,
    seeds: active.map((attempt) => hashSeed(attempt.request.seed, turn)),
  });
  for (const [index, attempt] of active.entries()) {
    const segment = segments[index];
    if (segment.finish === "full") {
      attempt.isFull = true;
      continue;
    }
    attempt.context.segments.push(protocol.turnEnd === "cut-afterwards" ? await cutSegment(segment, policy) : segment);
    attempt.turns++;
  }
}

/** Tokenising the cut text again loses the sampled log-probabilities; they are recomputed before learning, as in Search-R1. */
async function cutSegment(segment: Segment, policy: Policy): Promise<Segment> {
  const text = cutTurn(segment.text);
  return text === segment.text ? segment : { ...await policy.observe(text), by: "policy", finish: "stop" };
}

async function respond(
  active: readonly Attempt[],
  policy: Policy,
  retriever: Retriever,
  protocol: SearchQaProtocol,
): Promise<void> {
  const searching: { attempt: Attempt; query: string }[] = [];
  for (const attempt of active.filter(isOpen)) {
    const action = parseAction(lastText(attempt));
    if (action.kind !== "invalid") attempt.validActions++;
    if (action.kind === "answer") finishWith(attempt, action.answer);
    else if (action.kind === "search") searching.push({ attempt, query: action.query });
    else attempt.context.segments.push(await policy.observe(protocol.invalidActionText));
  }
  if (searching.length === 0) return;
  const found = await retriever.search(searching.map(({ query }) => query), protocol.topK);
  for (const [index, { attempt }] of searching.entries()) {
    attempt.searches++;
    const text = await observationText(passagesText(found[index], protocol), policy, protocol);
    attempt.context.segments.push(await policy.observe(text));
  }
}

/** A search in the forced last turn still counts as one, though nothing is retrieved (Search-R1). */
function applyFinalAction(attempt: Attempt): void {
  const action = parseAction(lastText(attempt));
  if (action.kind !== "invalid") attempt.validActions++;
  if (action.kind === "search") attempt.searches++;
  if (action.kind === "answer") finishWith(attempt, action.answer);
}

function isOpen({ isDone, isFull }: Attempt): boolean {
  return !isDone && !isFull;
}

function finishWith(attempt: Attempt, answer: string): void {
  attempt.answer = answer;
  attempt.isDone = true;
}

function lastText(attempt: Attempt): string {
  return attempt.context.segments[attempt.context.segments.length - 1].text;
}

function passagesText(documents: readonly RetrievedDocument[], protocol: SearchQaProtocol): string {
  if (protocol.passageFormat === "search-r1") return formatPassages(documents);
  if (documents.length === 0) return " none ";
  return ` ${documents.map(({ document }) => `${titleOf(document)} ${textOf(document)}`).join(" ")} `;
}

function finish(attempt: Attempt, protocol: SearchQaProtocol): Trajectory<QaTask> {
  const { task, conditioning } = attempt.request;
  const { prompt, segments } = attempt.context;
  return {
    task,
    conditioning,
    exchanges: [{ prompt, segments }],
    reward: scoreAttempt(attempt, protocol),
    answer: attempt.answer,
    turns: attempt.turns,
    counts: { searches: attempt.searches, valid_actions: attempt.validActions, finished: attempt.isDone ? 1 : 0 },
  };
}

function scoreAttempt(attempt: Attempt, protocol: SearchQaProtocol): number {
  const answer = protocol.answerScope === "own-answer" ? attempt.answer : extractAnswer({
    prompt: attempt.context.prompt.map((message) => message.content).join("\n"),
    response: attempt.context.segments.map((segment) => segment.text).join(""),
    scope: protocol.answerScope,
    minimumAnswerTags: protocol.minimumAnswerTags,
  });
  return answer === null ? 0 : exactMatch(answer, attempt.request.task.goldAnswers);
}
