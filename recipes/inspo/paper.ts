import type { InspoSettings } from "../../lib/method/inspo/settings.ts";

/**
 * What is known of INSPO's settings. None was read in the paper, which was not available to us: the numbers are from a
 * third-party reading note (2026-08-12), halving and the top-1 parent also from the authors' README.
 */
export const PAPER_INSPO = {
  populationSize: 7, // note: N = 7
  failuresPerReflection: 4, // note: 4 failure trajectories drawn at random
  parents: "top-1", // note on the ablation: better than several parents
} satisfies Partial<InspoSettings>;
