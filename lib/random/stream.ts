/** A source of uniform random numbers. */
export interface RandomStream {
  /** The next number in [0, 1), a multiple of 2⁻³². */
  next(): number;
  /** A whole number in [0, bound). */
  below(bound: number): number;
  /** One of the items. @throws {RangeError} on an empty list */
  pick<T>(items: readonly T[]): T;
}

/**
 * A 32-bit hash of text and numbers (FNV-1a over the UTF-16 units of its parts, finished with MurmurHash3's mixer).
 *
 * Gives every use of randomness a seed of its own: `hashSeed(cellSeed, "rollout", step, index)`.
 */
export function hashSeed(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    const text = `${part}\u0000`;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * A stream of its own for a named purpose. Streams are derived, not stored: a resumed run asks for the same name and
 * gets the same numbers, so no generator state has to be saved.
 *
 * The generator is sfc32 (C. Doty-Humphrey's PractRand), seeded through {@link hashSeed}.
 */
export function randomStream(...name: readonly (string | number)[]): RandomStream {
  let a = hashSeed(...name, "a");
  let b = hashSeed(...name, "b");
  let c = hashSeed(...name, "c");
  let counter = 1;
  const next = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum | 0;
    return (sum >>> 0) / 4294967296;
  };
  // The first outputs still show the seed's structure.
  for (let i = 0; i < 12; i++) next();
  const below = (bound: number) => Math.floor(next() * bound);
  return {
    next,
    below,
    pick: (items) => {
      if (items.length === 0) throw new RangeError("Cannot pick from an empty list");
      return items[below(items.length)];
    },
  };
}

/** The items in a random order; the argument is not changed (Fisher–Yates). */
export function shuffled<T>(items: readonly T[], stream: RandomStream): T[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const j = stream.below(i + 1);
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
}
