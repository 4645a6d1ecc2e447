import type { RandomStream } from "../../random/stream.ts";

/** Where an instruction came from. */
export type Origin = "seed" | "initial" | "reflection";

/** An instruction of the active population with its importance weight. */
export interface Member {
  /** Unique within a run: `i0` is the seed instruction. */
  id: string;
  text: string;
  /** Importance w_j: what the softmax draws by and evaluation picks by. */
  weight: number;
  /** Trajectories that used it so far. */
  uses: number;
  /** Step at which it joined. */
  born: number;
  origin: Origin;
  /** Ids of the instructions it was made from. */
  parents: readonly string[];
}

/** Draws a member with probability exp(w_j/τ) / Σ_k exp(w_k/τ) (INSPO, p(I | W; P)). @throws {RangeError} on an empty population */
export function drawMember(population: readonly Member[], temperature: number, stream: RandomStream): Member {
  if (population.length === 0) throw new RangeError("Cannot draw from an empty population");
  const largest = Math.max(...population.map(({ weight }) => weight));
  const masses = population.map(({ weight }) => Math.exp((weight - largest) / temperature));
  let rest = stream.next() * masses.reduce((sum, mass) => sum + mass, 0);
  for (const [index, mass] of masses.entries()) {
    rest -= mass;
    if (rest < 0) return population[index];
  }
  return population[population.length - 1];
}

/** The member with the highest weight; the oldest among equals. */
export function topMember(population: readonly Member[]): Member {
  if (population.length === 0) throw new RangeError("An empty population has no top member");
  return population.reduce((best, member) => member.weight > best.weight ? member : best);
}

/** The better half by weight, rounded up (successive halving: 7 → 4); the order among equals is kept. */
export function survivorsOf(population: readonly Member[]): Member[] {
  return rankMembers(population).slice(0, Math.ceil(population.length / 2));
}

/** Highest weight first; the order among equals is kept. */
export function rankMembers(population: readonly Member[]): Member[] {
  return [...population].sort((a, b) => b.weight - a.weight);
}

/**
 * The population after a step: w ← (1−α)·w + α·r̄, where r̄ is the mean reward of the trajectories that used the
 * member in this step; unused members keep their weight.

 *
 * The paper's rule was not found; an exponential average follows a policy that changes (our choice).
 *
 * @param rewards rewards of this step by member id
 */
export function updateWeights(
  population: readonly Member[],
  rewards: ReadonlyMap<string, readonly number[]>,
  rate: number,
): Member[] {
  return population.map((member) => {
    const own = rewards.get(member.id) ?? [];
    if (own.length === 0) return member;
    const mean = own.reduce((sum, reward) => sum + reward, 0) / own.length;
    return { ...member, weight: (1 - rate) * member.weight + rate * mean, uses: member.uses + own.length };
  });
}
