/** Words numbered in the order in which they were first seen. */
export interface TermDictionary {
  /** Number of words. */
  readonly size: number;
  /** The word's number, or −1 if it has none. */
  find(word: string): number;
  /** The word's number; a new word gets the next one. */
  add(word: string): number;
}

/**
 * An empty dictionary.
 *
 * A hash table with open addressing. Words that were just cut out of a text are strings that V8 has not hashed or seen
 * before, which makes them slow keys of a Map: building an index over 100,000 documents of 100 words spent 3.2 s in
 * Map.get and 1.3 s here.
 */
export function createTermDictionary(): TermDictionary {
  const words: string[] = [];
  let hashes = new Int32Array(1 << 10);
  // Holds number + 1; 0 is a free slot. At most half of the slots are taken.
  let slots = new Int32Array(hashes.length * 2);

  const slotOf = (word: string, hash: number) => {
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== 0) {
      const number = slots[slot] - 1;
      if (hashes[number] === hash && words[number] === word) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  };

  const grow = () => {
    const larger = new Int32Array(hashes.length * 2);
    larger.set(hashes);
    hashes = larger;
    slots = new Int32Array(hashes.length * 2);
    for (let number = 0; number < words.length; number++) slots[slotOf(words[number], hashes[number])] = number + 1;
  };

  return {
    get size() {
      return words.length;
    },
    find: (word) => slots[slotOf(word, hashOf(word))] - 1,
    add: (word) => {
      const hash = hashOf(word);
      const slot = slotOf(word, hash);
      if (slots[slot] !== 0) return slots[slot] - 1;
      const number = words.length;
      words.push(word);
      hashes[number] = hash;
      slots[slot] = number + 1;
      if (words.length === hashes.length) grow();
      return number;
    },
  };
}

/** FNV-1a over UTF-16 units, with the high bits mixed into the low ones that choose the slot. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  return hash ^ (hash >>> 15);
}
