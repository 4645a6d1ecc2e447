import { stripWhitespace } from "./python_whitespace.ts";
import { countTag } from "./tagged_blocks.ts";

/** Whether a chat text keeps the prescribed order of blocks, and if not, where it first departs from it. */
export interface SequenceCheck {
  isValid: boolean;
  reason: string;
}

const ASSISTANT = "<|im_start|>assistant";
const TAGS = ["think", "search", "information", "answer"] as const;
const ANY_TAG = /(<\/?(?:think|search|information|answer)>)/;

/** State → tag → next state. `information` is the state behind `</information>`, in upstream's words. */
const TRANSITIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  start: { "<think>": "in_think" },
  in_think: { "</think>": "after_think" },
  after_think: { "<search>": "in_search", "<answer>": "in_answer" },
  in_search: { "</search>": "after_search" },
  after_search: { "<information>": "in_information" },
  in_information: { "</information>": "information" },
  information: { "<think>": "in_think" },
  in_answer: { "</answer>": "end" },
  end: {},
};
const CONTENT_STATES = new Set(["in_think", "in_search", "in_information", "in_answer"]);

/**
 * Checks that what follows the first `<|im_start|>assistant` is think → (search → information → think)* → answer with
 * nothing but whitespace between the blocks (Search-R1 v0.3 qa_em_format.py, `is_valid_sequence`; same reasons).
 */
export function checkTurnSequence(text: string): SequenceCheck {
  const start = text.indexOf(ASSISTANT);
  if (start < 0) return invalid("Missing assistant marker");
  const content = text.slice(start + ASSISTANT.length);
  for (const tag of TAGS) {
    const opening = countTag(content, `<${tag}>`);
    const closing = countTag(content, `</${tag}>`);
    if (opening !== closing) return invalid(`Mismatch in ${tag} tags: ${opening} opening vs ${closing} closing tags`);
  }
  return checkOrder(content);
}

function checkOrder(content: string): SequenceCheck {
  let state = "start";
  for (const [index, part] of content.split(ANY_TAG).entries()) {
    const stripped = stripWhitespace(part);
    if (stripped === "") continue;
    // split() with a capturing group alternates text and tags.
    if (index % 2 === 1) {
      const next = TRANSITIONS[state][part];
      if (next === undefined) return invalid(`Unexpected tag ${part} in state ${state}`);
      state = next;
    } else if (state === "end") return invalid("Unexpected content in state end");
    else if (!CONTENT_STATES.has(state)) {
      return invalid(`Unexpected content '${stripped}' between tags (state: ${state})`);
    }
  }
  return state === "end"
    ? { isValid: true, reason: "Valid sequence format" }
    : invalid(`Incomplete sequence, ended in state ${state}`);
}

function invalid(reason: string): SequenceCheck {
  return { isValid: false, reason };
}
