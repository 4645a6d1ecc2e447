import type { Conditioning } from "../environment/trajectory.ts";
import type { Method } from "./method.ts";

/** A frozen policy with one static text: the baseline that learns nothing. */
export function staticMethod<Task>(conditioning: Conditioning): Method<Task> {
  return {
    condition: () => conditioning,
    learn: () => Promise.resolve([]),
    evolve: () => Promise.resolve(),
    evaluationConditioning: () => conditioning,
    metrics: () => ({}),
    snapshot: () => null,
    restore: () => {},
  };
}
