import type { Trajectory } from "../trajectory.ts";
import type { SearchQaProtocol } from "./protocol.ts";
import type { QaTask } from "./task.ts";

/**
 * What names the advantage group of a trajectory under a protocol, or undefined for the groups that share task and
 * conditioning.
 *
 * `row-number` is Search-R1's uid: the row within the source set (0 where there is none), so that row k of NQ and row k
 * of HotpotQA in one batch are one group, whatever their instructions are.
 */
export function groupKeyOf({ groupKey }: SearchQaProtocol): ((trajectory: Trajectory<QaTask>) => string) | undefined {
  return groupKey === "row-number" ? ({ task }) => `${task.row ?? 0}` : undefined;
}
