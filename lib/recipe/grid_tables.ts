import type { ContrastTable } from "../report/result_table.ts";
import type { PointSummary } from "./command.ts";
import type { Scale } from "./recipe.ts";

/**
 * What `--grid` is for: each claim over the points of the grid, so that a reader sees where an effect holds and where it
 * vanishes. Empty without a grid.
 */
export function gridTables(scale: Scale, summaries: readonly PointSummary[]): ContrastTable[] {
  if (summaries.length < 2) return [];
  return scale.claims.flatMap((claim) => {
    const metric = scale.metrics.find(({ id }) => id === claim.metric);
    const rows = summaries.flatMap(({ point, summary: { judged, results } }) => {
      const result = judged.find((each) => each.claim.id === claim.id);
      if (result === undefined || result.verdict === "not-run") return [];
      const mean = (arm: string) => results.rows.find((row) => row.arm === arm)?.cells[claim.metric]?.mean ?? null;
      const { difference: estimate, interval, verdict } = result;
      return [{ setting: point, first: mean(claim.arm), second: mean(claim.baseline), estimate, interval, verdict }];
    });
    if (rows.length === 0) return [];
    return [{
      kind: "contrasts" as const,
      title: `${claim.id} over the grid: ${metric?.label ?? claim.metric}`,
      first: claim.arm,
      second: claim.baseline,
      rows,
      notes: [GRID_NOTE],
      digits: metric?.digits,
    }];
  });
}

const GRID_NOTE =
  "Holm adjusts over the claims of a point, not over points: the grid is a map of where an effect holds, not one more test.";
