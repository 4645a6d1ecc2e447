import { z } from "zod";
import type { ChatClient, ParsedReply } from "../api/chat_client.ts";
import { ChatError } from "../api/chat.ts";
import { MAX_INSTRUCTION_CHARACTERS } from "./check_instruction.ts";
import { cleanText } from "./clean_text.ts";
import { type PromptBounds, REFLECTION_PROMPT_VERSION, reflectionMessages } from "./reflection_prompt.ts";
import {
  type Candidate,
  type Reflection,
  type ReflectionRequest,
  type Reflector,
  ReflectorError,
} from "./reflector.ts";

/** Settings of a reflector that asks a language model. */
export interface OpenaiReflectorOptions extends Partial<PromptBounds> {
  /** Most tokens of a reply. */
  maxTokens?: number;
  /** null: the server's default. */
  temperature?: number | null;
}

/** Our choice: INSPO's sampling settings were not found; temperature 1 is the one value every model accepts. */
export const OPENAI_REFLECTOR_DEFAULTS: Required<OpenaiReflectorOptions> = {
  maxTokens: 8_192,
  temperature: 1,
  transcriptCharacters: 6_000,
  maxInstructionCharacters: MAX_INSTRUCTION_CHARACTERS,
};

/** A reflector with the settings that a reader of its results needs. */
export interface OpenaiReflector extends Reflector {
  /** Model, prompt version and options; JSON-safe. */
  readonly protocol: Readonly<Record<string, string | number | null>>;
}

const proposals = z.object({ candidates: z.array(z.object({ diagnosis: z.string(), instruction: z.string() })) });

/**
 * A reflector that asks a language model behind a chat-completions endpoint (INSPO's "instruction proposer").
 *
 * Proposals are cleaned of control characters. Empty and overlong ones, repetitions and parents are dropped, and no more
 * than asked for are kept, so there may be fewer than asked for, or none.
 *
 * Its `reflect` throws a {@link ReflectorError} where the model times out, is not reached, refuses, or answers nothing
 * readable. A {@link ChatError} of reason `rejected` and a `BudgetExhaustedError` pass: a wrong key, a wrong model
 * name or a used-up budget would fail every time, and a run that goes on without new text is another experiment.
 */
export function openaiReflector(client: ChatClient, options: OpenaiReflectorOptions = {}): OpenaiReflector {
  const settings = { ...OPENAI_REFLECTOR_DEFAULTS, ...options };
  return {
    name: `openai:${client.model}`,
    protocol: { model: client.model, prompt: REFLECTION_PROMPT_VERSION, ...settings },
    reflect: async (request) => {
      const reply = await ask(client, request, settings);
      const { inputTokens, outputTokens, costUsd } = reply.usage;
      return {
        candidates: selectCandidates(reply.value.candidates, request, settings.maxInstructionCharacters),
        calls: reply.calls,
        usage: { inputTokens, outputTokens, costUsd },
      } satisfies Reflection;
    },
  };
}

async function ask(
  client: ChatClient,
  request: ReflectionRequest,
  settings: Required<OpenaiReflectorOptions>,
): Promise<ParsedReply<z.infer<typeof proposals>>> {
  try {
    return await client.parse({
      messages: reflectionMessages(request, settings),
      maxTokens: settings.maxTokens,
      temperature: settings.temperature ?? undefined,
      seed: request.seed,
      key: "reflection",
      schema: proposals,
      schemaName: "candidates",
    });
  } catch (error) {
    if (error instanceof ChatError && error.reason !== "rejected") {
      throw new ReflectorError(error.message, error.reason, {
        cause: error,
        // An unreadable reply was sent back once, see ChatClient.parse.
        calls: error.reason === "unreadable" ? 2 : 1,
      });
    }
    throw error;
  }
}

function selectCandidates(
  proposed: readonly Candidate[],
  { parents, candidates }: ReflectionRequest,
  maxCharacters: number,
): Candidate[] {
  const seen = new Set(parents.map(wordsOf));
  const selected: Candidate[] = [];
  for (const proposal of proposed) {
    const instruction = cleanText(proposal.instruction);
    const words = wordsOf(instruction);
    if (instruction === "" || instruction.length > maxCharacters || seen.has(words)) continue;
    seen.add(words);
    selected.push({ instruction, diagnosis: cleanText(proposal.diagnosis).slice(0, maxCharacters).toWellFormed() });
  }
  return selected.slice(0, candidates);
}

/** Two instructions that differ in white space only are the same. */
function wordsOf(instruction: string): string {
  return cleanText(instruction).split(/\s+/).join(" ");
}
