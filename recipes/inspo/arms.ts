import type { InspoSettings } from "../../lib/method/inspo/settings.ts";
import type { Arm } from "../../lib/recipe/recipe.ts";
import { publishedAverage } from "./published.ts";

/** Who writes new instructions where the command line does not say. */
export type ReflectorKind = "offline" | "random-edits";

/** What an arm changes in INSPO's settings; null is the static instruction. */
export interface ArmDefinition extends Arm {
  inspo: Partial<InspoSettings> | null;
  /** Whether the policy's weights stay as they are. */
  isFrozen?: boolean;
  reflector: ReflectorKind;
}

/** The arms of the micro scale. Ids are those of the published numbers. */
export const MICRO_ARMS: Readonly<Record<string, ArmDefinition>> = {
  "search-r1-grpo": {
    description: "GRPO with the static seed instruction (Search-R1's baseline)",
    published: publishedAverage("main_3b", "search-r1-grpo"),
    inspo: null,
    reflector: "offline",
  },
  "inspo": {
    description: "the method: population, weights, halving, reflection, verification, GRPO",
    published: publishedAverage("main_3b", "inspo"),
    inspo: {},
    reflector: "offline",
  },
  "inspo-fixed-population": {
    description: "the first population for ever: no pruning, no new instructions",
    published: publishedAverage("ablation_3b", "inspo-fixed-population"),
    inspo: { evolutionInterval: null },
    reflector: "offline",
  },
  "inspo-random-edits": {
    description: "new instructions by random words in place of reflection: does the diagnosis matter?",
    inspo: {},
    reflector: "random-edits",
  },
  "inspo-no-verification": {
    description: "new instructions join unseen, at their parent's weight",
    published: publishedAverage("ablation_3b", "inspo-no-verification"),
    inspo: { verification: null },
    reflector: "offline",
  },
  "inspo-multi-parent": {
    description: "new instructions are made from all survivors in place of the top one",
    published: publishedAverage("ablation_3b", "inspo-multi-parent"),
    inspo: { parents: "survivors" },
    reflector: "offline",
  },
  "inspo-no-rl": {
    description: "instructions evolve, the policy's weights stay as they are",
    inspo: {},
    isFrozen: true,
    reflector: "offline",
  },
};
