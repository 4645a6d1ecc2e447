import { type Document, textOf, titleOf } from "./document.ts";
import { createTermDictionary, type TermDictionary } from "./term_dictionary.ts";
import type { Tokenizer } from "./tokenizer.ts";

/**
 * An inverted index. The postings of word `t` are the entries `starts[t]` to `starts[t + 1] − 1` of `documents` and
 * `counts`, in increasing order of the document.
 */
export interface Postings {
  /** The number of each word. */
  dictionary: TermDictionary;
  /** Words below this number are stop words: they have a number but no postings. */
  stopWords: number;
  /** One entry more than there are words. */
  starts: Int32Array;
  /** Index of the document. */
  documents: Int32Array;
  /** How often the document has the word; words of the title count `titleWeight` times. */
  counts: Float32Array;
  /** Words in each document, counted in the same way, without stop words. */
  lengths: Float64Array;
}

/** What an inverted index is built with. */
export interface PostingsOptions {
  /** Cuts titles and texts into words. */
  tokenizer: Tokenizer;
  /** Words that are left out. */
  stopWords: ReadonlySet<string>;
  /** How many times a word of the title counts, above 0. */
  titleWeight: number;
}

/** Builds an inverted index in one pass over the texts and one over the postings. */
export function buildPostings(corpus: readonly Document[], options: PostingsOptions): Postings {
  const dictionary = createTermDictionary();
  for (const word of options.stopWords) dictionary.add(word);
  const stopWords = dictionary.size;

  const lengths = new Float64Array(corpus.length);
  const ends = new Int32Array(corpus.length);
  let words = new Int32Array(1 << 12);
  let counts = new Float32Array(words.length);
  let used = 0;
  // The place of each word's posting in the current document, or anything below `first`.
  let places = new Int32Array(1 << 10).fill(-1);

  const count = (text: string, weight: number, document: number, first: number) => {
    for (const word of options.tokenizer.tokenize(text)) {
      const number = dictionary.add(word);
      if (number < stopWords) continue;
      lengths[document] += weight;
      if (number >= places.length) {
        places = enlarged(places, new Int32Array(Math.max(places.length, number) * 2).fill(-1));
      }
      if (places[number] >= first) {
        counts[places[number]] += weight;
        continue;
      }
      if (used === words.length) {
        words = enlarged(words, new Int32Array(used * 2));
        counts = enlarged(counts, new Float32Array(used * 2));
      }
      places[number] = used;
      words[used] = number;
      counts[used] = weight;
      used++;
    }
  };

  for (let document = 0; document < corpus.length; document++) {
    const first = used;
    count(titleOf(corpus[document]), options.titleWeight, document, first);
    count(textOf(corpus[document]), 1, document, first);
    ends[document] = used;
  }
  return { dictionary, stopWords, lengths, ...sortedByWord(words, counts, ends, dictionary.size) };
}

/** Counting sort of postings that come document by document. */
function sortedByWord(
  words: Int32Array,
  counts: Float32Array,
  ends: Int32Array,
  size: number,
): Pick<Postings, "starts" | "documents" | "counts"> {
  const used = ends[ends.length - 1];
  const starts = new Int32Array(size + 1);
  for (let i = 0; i < used; i++) starts[words[i] + 1]++;
  for (let word = 0; word < size; word++) starts[word + 1] += starts[word];

  const next = starts.slice(0, size);
  const documents = new Int32Array(used);
  const sortedCounts = new Float32Array(used);
  for (let document = 0, i = 0; document < ends.length; document++) {
    for (; i < ends[document]; i++) {
      const place = next[words[i]]++;
      documents[place] = document;
      sortedCounts[place] = counts[i];
    }
  }
  return { starts, documents, counts: sortedCounts };
}

/** `larger` with `array` at its beginning. */
function enlarged<T extends Int32Array | Float32Array>(array: T, larger: T): T {
  larger.set(array);
  return larger;
}
