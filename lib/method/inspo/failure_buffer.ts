import type { RandomStream } from "../../random/stream.ts";
import { shuffled } from "../../random/stream.ts";
import type { Failure } from "../../reflector/reflector.ts";

/** A failed trajectory, tagged with what produced it. */
export interface BufferedFailure extends Failure {
  instructionId: string;
  step: number;
}

/**
 * INSPO's replay buffer as far as it is known: it holds failures and only the reflector reads it. Capacity and order
 * of eviction were not found; a ring that forgets the oldest (our choice).
 */
export interface FailureBuffer {
  add(failure: BufferedFailure): void;
  /**
   * Up to `count` different failures at random, of the given instructions if they have any, else of all.
   */
  draw(count: number, instructionIds: readonly string[], stream: RandomStream): BufferedFailure[];
  all(): readonly BufferedFailure[];
}

/** A buffer of the last `capacity` failures. */
export function failureBuffer(capacity: number, initial: readonly BufferedFailure[] = []): FailureBuffer {
  let failures = [...initial];
  return {
    add: (failure) => {
      failures.push(failure);
      if (failures.length > capacity) failures = failures.slice(failures.length - capacity);
    },
    draw: (count, instructionIds, stream) => {
      const own = failures.filter(({ instructionId }) => instructionIds.includes(instructionId));
      return shuffled(own.length > 0 ? own : failures, stream).slice(0, count);
    },
    all: () => failures,
  };
}
