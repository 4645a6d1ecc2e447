/** A way to cut text into words. Its name is part of the retriever's protocol, so a changed function needs a new name. */
export interface Tokenizer {
  /** Its name in the protocol. */
  name: string;
  /** The words in order, repeats included, in the form in which they are compared. */
  tokenize(text: string): readonly string[];
}

// Unicode's word boundaries (UAX #29) as Lucene's StandardTokenizer applies them: letters, marks, digits and connectors
// form words; some marks between letters, or between digits, do not end one; Han and Hiragana characters are words of
// their own. Not covered: Hebrew quotes, emoji, the colon, invisible formatting characters.
const LETTER = String.raw`[\p{L}\p{M}]`;
const SINGLE = String.raw`[\p{sc=Han}\p{sc=Hiragana}]`;
const RUN = String.raw`[[\p{L}\p{M}\p{Nd}\p{Pc}]--${SINGLE}]+`;
const JOINT = String.raw`(?:(?<=${LETTER})['‘’.·](?=\p{L})|(?<=\p{Nd})['‘’.,](?=\p{Nd}))`;
const WORD = new RegExp(String.raw`${SINGLE}\p{M}*|${RUN}(?:${JOINT}${RUN})*`, "gv");

/**
 * Lower-cased Unicode words without the English possessive `'s`: what Lucene's StandardTokenizer, EnglishPossessiveFilter
 * and LowerCaseFilter give. Pyserini's default analyzer also stems (Porter); this one does not.
 */
export const luceneLike: Tokenizer = {
  name: "lucene-like",
  tokenize: (text) => {
    const words: string[] = text.toLowerCase().match(WORD) ?? [];
    for (let i = 0; i < words.length; i++) {
      if (hasPossessive(words[i])) words[i] = words[i].slice(0, -2);
    }
    return words;
  },
};

/** Text cut at white space, nothing else changed: for generated worlds whose words are symbols. */
export const whitespace: Tokenizer = {
  name: "whitespace",
  tokenize: (text) => text.split(/\s+/u).filter((word) => word !== ""),
};

/** The tokenizers that can be asked for by name. */
export const TOKENIZERS = { "lucene-like": luceneLike, whitespace } satisfies Record<string, Tokenizer>;

function hasPossessive(word: string): boolean {
  if (word.length < 3 || word.charCodeAt(word.length - 1) !== 0x73) return false;
  const mark = word.charCodeAt(word.length - 2);
  return mark === 0x27 || mark === 0x2019;
}
