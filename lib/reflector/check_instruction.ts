import { CONTROL_CHARACTER } from "./clean_text.ts";

/** What a checked instruction must keep. */
export interface InstructionRules {
  /**
   * Where the scorer looks for answer tags (`answerScope` of the search-QA protocol). Search-R1's looks at prompt and
   * response together and wants two pairs, so it relies on exactly one example in the instruction: without it every
   * correct answer scores 0, and with two an unanswered question is scored on an example (qa_em.py).
   */
  answerTagScope: "response" | "prompt-and-response";
  /** Longest instruction; default {@link MAX_INSTRUCTION_CHARACTERS}. */
  maxCharacters?: number;
  /** Names of tags that must be balanced; default {@link PROTOCOL_TAGS}. Other angle brackets are prose. */
  tags?: readonly string[];
}

/** An instruction that may be tried, trimmed; or why not, in a few words for the journal. */
export type InstructionCheck = { ok: true; text: string } | { ok: false; reason: string };

/** Our choice: long enough for an evolved instruction, short enough for a prompt of 2,048 tokens (Search-R1). */
export const MAX_INSTRUCTION_CHARACTERS = 4_000;

/** The tags that Search-R1's loop and scorer read. */
export const PROTOCOL_TAGS: readonly string[] = ["think", "search", "information", "answer"];

/** Checks an instruction that somebody, such as a language model, proposes. */
export function checkInstruction(text: string, rules: InstructionRules): InstructionCheck {
  const instruction = text.replaceAll("\r\n", "\n").trim();
  const reason = faultOf(instruction, rules);
  return reason === null ? { ok: true, text: instruction } : { ok: false, reason };
}

function faultOf(
  instruction: string,
  { answerTagScope, maxCharacters = MAX_INSTRUCTION_CHARACTERS, tags = PROTOCOL_TAGS }: InstructionRules,
): string | null {
  if (instruction === "") return "empty";
  if (instruction.length > maxCharacters) return `too long: ${instruction.length} characters, at most ${maxCharacters}`;
  return characterFault(instruction) ?? firstFault(tags, (tag) => tagFault(instruction, tag)) ??
    (answerTagScope === "prompt-and-response" ? exampleFault(instruction) : null);
}

function characterFault(instruction: string): string | null {
  if (!instruction.isWellFormed()) return "half of a surrogate pair";
  const control = CONTROL_CHARACTER.exec(instruction);
  return control === null
    ? null
    : `control character U+${control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function tagFault(instruction: string, tag: string): string | null {
  let isOpen = false;
  for (const [found] of instruction.matchAll(new RegExp(`</?${RegExp.escape(tag)}>`, "g"))) {
    const opens = !found.startsWith("</");
    if (opens === isOpen) return opens ? `nested <${tag}>` : `</${tag}> without <${tag}>`;
    isOpen = opens;
  }
  return isOpen ? `unclosed <${tag}>` : null;
}

/**
 * `<answer> and </answer>` and `<answer></answer>` name the tags and are no examples; Search-R1's own instruction has
 * one of them beside its example. Its scorer counts them all the same.
 */
function exampleFault(instruction: string): string | null {
  const contents = [...instruction.matchAll(/<answer>(.*?)<\/answer>/gs)].map(([, content]) => content.trim());
  const examples = contents.filter((content) => content !== "" && content !== "and" && content !== "...").length;
  return examples === 1 ? null : `${examples} example answers in <answer> tags: the scorer needs exactly 1`;
}

function firstFault(tags: readonly string[], faultOfTag: (tag: string) => string | null): string | null {
  for (const tag of tags) {
    const fault = faultOfTag(tag);
    if (fault !== null) return fault;
  }
  return null;
}
