/**
 * Similarity of two texts in [0, 1]: twice the characters in matching blocks over all characters (Ratcliff and
 * Obershelp; CPython difflib `SequenceMatcher(None, a, b).ratio()`). Not symmetric.
 *
 * Like difflib it never starts a block at a character that makes up more than 1 % of a second text of 200 characters or
 * more ("autojunk"), which makes long texts look less alike than they are.
 */
export function sequenceRatio(a: string, b: string): number {
  const first = Array.from(a);
  const second = Array.from(b);
  const length = first.length + second.length;
  return length === 0 ? 1 : 2 * matchingCharacters(first, second) / length;
}

interface Match {
  start: number;
  otherStart: number;
  size: number;
}

type Range = readonly [from: number, to: number, otherFrom: number, otherTo: number];

/** The longest block, then the longest blocks to the left and right of it, and so on. */
function matchingCharacters(first: readonly string[], second: readonly string[]): number {
  const positions = positionsByCharacter(second);
  const open: Range[] = [[0, first.length, 0, second.length]];
  let total = 0;
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const { start, otherStart, size } = longestMatch(first, second, positions, range);
    if (size === 0) continue;
    const [from, to, otherFrom, otherTo] = range;
    total += size;
    open.push([from, start, otherFrom, otherStart], [start + size, to, otherStart + size, otherTo]);
  }
  return total;
}

function positionsByCharacter(text: readonly string[]): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [index, character] of text.entries()) {
    const known = positions.get(character);
    if (known === undefined) positions.set(character, [index]);
    else known.push(index);
  }
  if (text.length < 200) return positions;
  const popular = Math.floor(text.length / 100) + 1;
  for (const [character, found] of positions) if (found.length > popular) positions.delete(character);
  return positions;
}

/** Of the longest common blocks the one that starts first in the first text, then in the second. */
function longestMatch(
  first: readonly string[],
  second: readonly string[],
  positions: Map<string, number[]>,
  range: Range,
): Match {
  const [from, to, otherFrom, otherTo] = range;
  let best: Match = { start: from, otherStart: otherFrom, size: 0 };
  // Length of the common block that ends at first[i − 1] and second[j].
  let lengths = new Map<number, number>();
  for (let i = from; i < to; i++) {
    const next = new Map<number, number>();
    for (const j of positions.get(first[i]) ?? []) {
      if (j < otherFrom) continue;
      if (j >= otherTo) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { start: i - size + 1, otherStart: j - size + 1, size };
    }
    lengths = next;
  }
  return extend(first, second, best, range);
}

/** Popular characters may not start a block but may widen it. */
function extend(first: readonly string[], second: readonly string[], match: Match, range: Range): Match {
  const [from, to, otherFrom, otherTo] = range;
  let { start, otherStart, size } = match;
  while (start > from && otherStart > otherFrom && first[start - 1] === second[otherStart - 1]) {
    start--;
    otherStart--;
    size++;
  }
  while (start + size < to && otherStart + size < otherTo && first[start + size] === second[otherStart + size]) size++;
  return { start, otherStart, size };
}
