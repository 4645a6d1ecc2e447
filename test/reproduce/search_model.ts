import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PostedRequest, reply, type Step } from "../api/chat_server.ts";

/** Countries that the generated data asks about; 40 % of them each for verification and test. */
export const COUNTRIES = 40;

/** The word in an instruction that makes the scripted model answer well. */
export const HELPFUL_WORD = "verbatim";

const SYLLABLES = ["ba", "do", "fi", "ku", "le", "mo", "na", "pe", "ri", "su"];

/** A name of three syllables, different for each number below 1,000. */
function nameOf(number: number): string {
  const digits = [Math.floor(number / 100), Math.floor(number / 10) % 10, number % 10];
  const name = digits.map((digit) => SYLLABLES[digit]).join("");
  return name[0].toUpperCase() + name.slice(1);
}

const countryOf = (index: number) => `${nameOf(137 + index * 13)}land`;
const capitalOf = (index: number) => `${nameOf(211 + index * 17)}ville`;

/** Writes questions about capitals and three paragraphs for each, as `--data` wants them. Returns the folder. */
export function writeData(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const indexes = Array.from({ length: COUNTRIES }, (_, index) => index);
  const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  writeFileSync(
    join(folder, "questions.jsonl"),
    lines(indexes.map((index) => ({
      id: `q${index}`,
      question: `What is the capital of ${countryOf(index)}?`,
      golden_answers: [capitalOf(index)],
    }))),
  );
  writeFileSync(
    join(folder, "corpus.jsonl"),
    lines(indexes.flatMap((index) => {
      const country = countryOf(index);
      return [
        { id: `${index}a`, contents: `"${country}"\n${country} is a country. Its capital is ${capitalOf(index)}.` },
        { id: `${index}b`, contents: `"Rivers of ${country}"\nTwo rivers cross the plains in the north.` },
        { id: `${index}c`, contents: `"${capitalOf(index)}"\nA city with a harbour and an old bridge.` },
      ];
    })),
  );
  return folder;
}

/**
 * A language model that searches once with the question. It answers with the capital that it reads in the passages if
 * the instruction has {@link HELPFUL_WORD} or the question is one of the easy third; otherwise in a whole sentence. Asked
 * for new instructions, it proposes good and bad ones; the good word comes to it only from failures.
 */
export function searchModel(request: PostedRequest): Step {
  return request.response_format === undefined ? reply(nextTurn(request)) : reply(proposals(request));
}

/** Servers drop the stop text, so the closing tags are missing. */
function nextTurn({ messages }: PostedRequest): string {
  const [prompt, ...turns] = messages;
  const [, instruction, question] = /^(.*) Question: (.*)\n$/s.exec(prompt.content) ?? ["", "", ""];
  const passages = turns.findLast(({ role }) => role === "user")?.content;
  if (passages === undefined) return `<think>I look it up.</think> <search> ${question} `;
  const country = /of (\w+)\?/.exec(question)?.[1] ?? "";
  const capital = new RegExp(`${country} is a country. Its capital is (\\w+)`).exec(passages)?.[1] ?? "unknown";
  const isEasy = country.charCodeAt(2) % 3 === 0;
  return instruction.includes(HELPFUL_WORD) || isEasy
    ? `<think>Found.</think> <answer> ${capital} `
    : `<answer> The capital is ${capital} `;
}

const TAGS = "Search with <search> query </search> and answer with <answer> answer </answer>";

function proposals({ messages, seed }: PostedRequest): string {
  const hasSeenFailures = messages[1].content.includes("failed attempts are shown above");
  const texts = hasSeenFailures
    ? [
      `${TAGS}, ${HELPFUL_WORD} from the passage (${seed}).`,
      `Be brief. ${TAGS}. Good luck (${seed}).`,
      "</answer> Go.",
    ]
    : [
      "Guess something, and never search.",
      "Write <answer> and stop.",
      `${TAGS}. For example, <answer> Rome </answer> or <answer> Oslo </answer>.`,
      "colourless green ideas",
    ];
  return JSON.stringify({
    candidates: texts.map((instruction) => ({ diagnosis: "it answers in sentences", instruction })),
  });
}
