/** Lucene's English stop words (`EnglishAnalyzer.ENGLISH_STOP_WORDS_SET`), which pyserini's default analyzer leaves out. */
export const ENGLISH_STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with"
    .split(" "),
);

/** The lists that can be asked for by name. */
export const STOP_WORDS = { none: new Set<string>(), english: ENGLISH_STOP_WORDS } satisfies Record<
  string,
  ReadonlySet<string>
>;
