import { hashSeed, randomStream } from "../../random/stream.ts";
import { type Candidate, type Reflection, ReflectorError } from "../../reflector/reflector.ts";
import type { Progress } from "../method.ts";
import type { BufferedFailure } from "./failure_buffer.ts";
import type { InspoSetup } from "./method.ts";
import { type Member, type Origin, rankMembers, survivorsOf, topMember } from "./population.ts";
import type { InspoState } from "./state.ts";

/**
 * Phase 1 (INSPO, README): the seed instruction and variants of it that the reflector writes without having seen a
 * failure. Each is verified for its first weight; without verification all start at 0.
 */
export async function initialPopulation<Task>(
  setup: InspoSetup<Task>,
  state: InspoState,
  progress: Progress<Task>,
): Promise<InspoState> {
  const first = seedMember(setup.seedInstruction);
  const wanted = setup.settings.populationSize - 1;
  const reflection = wanted === 0
    ? { candidates: [], calls: 0 }
    : await askReflector(setup, progress, [first], [], wanted);
  const candidates = admissible(setup, [first], reflection.candidates, progress).slice(0, wanted);
  const unverified = [
    first,
    ...candidates.map(({ instruction }, index) =>
      member(`i${index + 1}`, instruction, "initial", ["i0"], progress.step)
    ),
  ];
  const { verification } = setup.settings;
  const isVerified = verification !== null && progress.affords(unverified.length * verification.samples);
  const population: Member[] = [];
  for (const [index, each] of unverified.entries()) {
    const weighed = isVerified ? { ...each, weight: await verify(setup, progress, each) } : each;
    population.push(weighed);
    progress.record("instruction", {
      ...describe(weighed),
      diagnosis: candidates[index - 1]?.diagnosis ?? null,
      accepted: true,
      reason: null,
    });
  }
  return {
    ...state,
    population,
    created: population.length,
    optimizerCalls: state.optimizerCalls + reflection.calls,
  };
}

/**
 * One generation: halve, reflect on failures of the parents, verify, merge. Where the reflector fails, proposes nothing
 * usable, has no failure to read, or the budget does not allow the verification, the population stays as it is.
 */
export async function evolveGeneration<Task>(
  setup: InspoSetup<Task>,
  state: InspoState,
  progress: Progress<Task>,
): Promise<InspoState> {
  const { settings } = setup;
  const survivors = survivorsOf(state.population);
  const hasRoom = settings.populationSize > survivors.length;
  if (!hasRoom) return state;
  if (!progress.affords(verificationCost(setup))) {
    progress.record("reflection-skipped", { reason: "the budget does not allow its verification" });
    return state;
  }
  const parents = settings.parents === "top-1" ? [topMember(survivors)] : survivors;
  const stream = randomStream(setup.seed, "failures", progress.step);
  const failures = state.failures.draw(settings.failuresPerReflection, parents.map(({ id }) => id), stream);
  if (failures.length === 0) {
    progress.record("reflection-skipped", { reason: "no failure to reflect on" });
    return state;
  }
  const reflection = await askReflector(setup, progress, parents, failures, settings.candidates);
  const optimizerCalls = state.optimizerCalls + reflection.calls;
  const candidates = admissible(setup, state.population, reflection.candidates, progress);
  if (candidates.length === 0) return { ...state, optimizerCalls };

  const newcomers: Member[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const newcomer = member(
      `i${state.created + index}`,
      candidate.instruction,
      "reflection",
      parents.map(({ id }) => id),
      progress.step,
    );
    const weight = settings.verification === null ? topMember(parents).weight : await verify(setup, progress, newcomer);
    newcomers.push({ ...newcomer, weight });
  }
  const threshold = await acceptanceThreshold(setup, progress, survivors);
  const accepted = rankMembers(newcomers.filter(({ weight }) => weight >= threshold))
    .slice(0, settings.populationSize - survivors.length);
  for (const [index, newcomer] of newcomers.entries()) {
    const isAccepted = accepted.includes(newcomer);
    const reason = isAccepted ? null : newcomer.weight < threshold ? "below the worst survivor" : "no free place";
    const { diagnosis } = candidates[index];
    progress.record("instruction", { ...describe(newcomer), diagnosis, accepted: isAccepted, reason });
  }
  return {
    ...state,
    optimizerCalls,
    created: state.created + newcomers.length,
    population: [...survivors, ...accepted],
  };
}

/** Rollouts that one generation's verification may take. */
function verificationCost<Task>({ settings: { verification, candidates } }: InspoSetup<Task>): number {
  if (verification === null) return 0;
  return verification.samples * (candidates + (verification.threshold === "worst-survivor-verified" ? 1 : 0));
}

/** What a newcomer must at least reach. */
async function acceptanceThreshold<Task>(
  setup: InspoSetup<Task>,
  progress: Progress<Task>,
  survivors: readonly Member[],
): Promise<number> {
  const { verification } = setup.settings;
  const worst = survivors[survivors.length - 1];
  if (verification === null) return -Infinity;
  return verification.threshold === "survivor-weight" ? worst.weight : await verify(setup, progress, worst);
}

async function askReflector<Task>(
  setup: InspoSetup<Task>,
  progress: Progress<Task>,
  parents: readonly Member[],
  failures: readonly BufferedFailure[],
  candidates: number,
): Promise<Pick<Reflection, "candidates" | "calls">> {
  try {
    const reflection = await setup.reflector.reflect({
      parents: parents.map(({ text }) => text),
      failures,
      candidates,
      constraints: setup.constraints,
      seed: hashSeed(setup.seed, "reflection", progress.step),
    });
    progress.record("reflection", {
      parents: parents.map(({ id }) => id),
      failures: failures.map(({ instructionId, step, question }) => ({ instructionId, step, question })),
      proposed: reflection.candidates.length,
      calls: reflection.calls,
      usage: reflection.usage,
    });
    return reflection;
  } catch (error) {
    // A run must survive its reflector: without new text the population stays as it is.
    if (!(error instanceof ReflectorError)) throw error;
    progress.record("reflection-failed", { reason: error.reason, message: error.message, calls: error.calls });
    return { candidates: [], calls: error.calls };
  }
}

/** Proposals that keep the rules and are new; every refusal is recorded with its reason. */
function admissible<Task>(
  setup: InspoSetup<Task>,
  present: readonly Member[],
  proposals: readonly Candidate[],
  progress: Progress<Task>,
): Candidate[] {
  const seen = new Set(present.map(({ text }) => setup.instructionKey(text)));
  const admitted: Candidate[] = [];
  for (const { instruction, diagnosis } of proposals) {
    const check = setup.checkInstruction(instruction);
    const key = setup.instructionKey(check.ok ? check.text : instruction);
    const reason = !check.ok ? check.reason : seen.has(key) ? "already in the population" : null;
    if (reason !== null) progress.record("candidate-refused", { text: instruction, reason });
    else {
      seen.add(key);
      admitted.push({ instruction: check.ok ? check.text : instruction, diagnosis });
    }
  }
  return admitted;
}

/**
 * Mean reward of an instruction on the held-out tasks with the current policy; the rollouts are charged. All instructions
 * that are verified at a step share questions and random numbers, so that their differences are less noisy.
 */
async function verify<Task>(setup: InspoSetup<Task>, progress: Progress<Task>, candidate: Member): Promise<number> {
  const { verification } = setup.settings;
  if (verification === null) throw new TypeError("Cannot verify: the settings have no verification");
  const tasks = setup.verificationTasks.slice(0, verification.samples);
  const trajectories = await progress.rollout(
    tasks.map((task, index) => ({
      task,
      conditioning: { id: candidate.id, text: candidate.text },
      seed: hashSeed(setup.seed, "verification", progress.step, index),
    })),
    verification.temperature,
  );
  const score = trajectories.reduce((sum, { reward }) => sum + reward, 0) / trajectories.length;
  progress.record("verification", { id: candidate.id, score, samples: trajectories.length });
  return score;
}

/** The instruction that a run starts from. */
export function seedMember(text: string): Member {
  return member("i0", text, "seed", [], 0);
}

function member(id: string, text: string, origin: Origin, parents: readonly string[], born: number): Member {
  return { id, text, weight: 0, uses: 0, born, origin, parents };
}

function describe({ id, text, origin, parents, weight }: Member): Record<string, unknown> {
  return { id, text, origin, parents, weight };
}
