import { z } from "zod";
import type { RunRecord } from "../../lib/record/read_run.ts";
import { figureOf } from "../../lib/report/page/figures.ts";
import type { EvolvedText, Figure, ReportPage } from "../../lib/report/page/report_page.ts";
import { lineage, type LineageNode } from "../../lib/report/plots/lineage.ts";
import { populationWeights, type WeightLine } from "../../lib/report/plots/population_weights.ts";

const instruction = z.object({
  id: z.string(),
  text: z.string(),
  origin: z.string(),
  parents: z.array(z.string()),
  weight: z.number(),
  diagnosis: z.string().nullable(),
  accepted: z.boolean(),
  reason: z.string().nullable().default(null),
});
const population = z.object({ members: z.array(z.object({ id: z.string(), weight: z.number(), uses: z.number() })) });

/** What a run's journal tells about its instructions. */
interface InstructionHistory {
  instructions: (z.infer<typeof instruction> & { step: number })[];
  populations: { step: number; members: { id: string; weight: number; uses: number }[] }[];
  /** Id that the last evaluation read. */
  evaluated: string | null;
  lastStep: number;
}

/** Population weights, lineage and evolved instructions of the first run of the arm `inspo`, or of another evolving arm. */
export function instructionEvolution(runs: readonly RunRecord[]): { figures: Figure[]; texts: ReportPage["texts"] } {
  const evolving = runs.filter((run) => historyOf(run).populations.length > 0);
  const run = evolving.find(({ config }) => config.arm === "inspo") ?? evolving[0];
  if (run === undefined) return { figures: [], texts: null };
  const history = historyOf(run);
  const name = `${run.config.arm}, seed ${run.config.seed}`;
  return {
    figures: [
      figureOf({
        id: "population-weights",
        title: `Importance weights (${name})`,
        caption: "One line for each instruction; a cross ends those that were dropped. Evaluation read the thick line.",
        draw: (width) =>
          populationWeights(weightLines(history), {
            title: `Importance weights (${name})`,
            width,
            yLabel: "Weight (mean reward)",
            evaluation: evaluationOf(history),
          }),
      }),
      figureOf({
        id: "lineage",
        title: `Instruction lineage (${name})`,
        caption:
          "From left to right: when an instruction was written, and from which one. A grey cross: dropped later. " +
          "A red one: not accepted, below the worst survivor or without a free place.",
        draw: (width) =>
          lineage(lineageNodes(history), {
            title: `Instruction lineage (${name})`,
            width,
            lastStep: history.lastStep,
            scoreLabel: "last weight",
          }),
      }),
    ],
    texts: {
      title: `Instructions (${name})`,
      intro: "In the order in which they were written; the full text is what the policy reads before the question.",
      rows: evolvedTexts(history),
    },
  };
}

function historyOf({ journal }: RunRecord): InstructionHistory {
  const history: InstructionHistory = { instructions: [], populations: [], evaluated: null, lastStep: 0 };
  for (const entry of journal) {
    if (entry.type === "start") continue;
    history.lastStep = Math.max(history.lastStep, entry.step);
    if (entry.type === "evaluation") history.evaluated = entry.conditioning;
    if (entry.type !== "event") continue;
    if (entry.name === "instruction") history.instructions.push({ ...instruction.parse(entry.data), step: entry.step });
    if (entry.name === "population") history.populations.push({ ...population.parse(entry.data), step: entry.step });
  }
  return history;
}

function weightLines({ instructions, populations }: InstructionHistory): WeightLine[] {
  return instructions.filter(({ accepted }) => accepted).map(({ id, text }) => ({
    id,
    text,
    points: populations.flatMap(({ step, members }) =>
      members.filter((member) => member.id === id).map(({ weight }) => ({ step, weight }))
    ),
  })).filter(({ points }) => points.length > 0);
}

/** The top instruction at each step where it changed. */
function evaluationOf({ populations }: InstructionHistory): { step: number; id: string }[] {
  const changes: { step: number; id: string }[] = [];
  for (const { step, members } of populations) {
    const { id } = members.reduce((best, member) => member.weight > best.weight ? member : best);
    if (changes.at(-1)?.id !== id) changes.push({ step, id });
  }
  return changes;
}

function lineageNodes(history: InstructionHistory): LineageNode[] {
  return history.instructions.map(({ id, text, step, parents, accepted, weight }) => {
    const present = history.populations.filter(({ members }) => members.some((member) => member.id === id));
    const lastSeen = present.at(-1);
    const last = lastSeen?.members.find((member) => member.id === id)?.weight ?? weight;
    const livesOn = lastSeen?.step === history.populations.at(-1)?.step;
    return {
      id,
      text,
      born: step,
      died: !accepted || livesOn ? null : lastSeen?.step ?? step,
      parents,
      isAccepted: accepted,
      score: last,
      isEvaluated: id === history.evaluated,
    };
  });
}

function evolvedTexts(history: InstructionHistory): EvolvedText[] {
  return history.instructions.map(({ id, text, origin, parents, step, diagnosis, accepted, reason, weight }) => {
    const member = history.populations.flatMap(({ members }) => members.filter((each) => each.id === id)).at(-1);
    return {
      id,
      text,
      facts: [
        parents.length === 0 ? origin : `${origin}, from ${parents.join(", ")}`,
        `step ${step}`,
        ...(diagnosis === null ? [] : [`diagnosis: ${diagnosis}`]),
        `weight ${weight.toFixed(2)} at first${member === undefined ? "" : `, ${member.weight.toFixed(2)} at last`}`,
        ...(member === undefined ? [] : [`${member.uses} rollouts`]),
        ...(reason === null ? [] : [reason]),
      ],
      status: accepted ? "accepted" : "not accepted",
      isEmphasised: id === history.evaluated,
    };
  });
}
