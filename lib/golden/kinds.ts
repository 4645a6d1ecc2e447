import type { GoldenKind } from "./golden.ts";
import { qaEm } from "./qa_em.ts";
import { rlNumerics } from "./rl_numerics.ts";
import { searchR1Rollouts } from "./searchr1_rollouts.ts";
import { stats } from "./stats.ts";

/** All kinds of golden files that coevo can be compared with. */
export const GOLDEN_KINDS: readonly GoldenKind[] = [qaEm, rlNumerics, searchR1Rollouts, stats];
