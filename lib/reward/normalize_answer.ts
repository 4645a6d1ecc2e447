import { splitWhitespace } from "./python_whitespace.ts";

/** Python's `string.punctuation`: ASCII only, so curly quotes and dashes stay. */
const PUNCTUATION = /[!-/:-@[-`{-~]+/g;
const ARTICLES = /\b(?:a|an|the)\b/g;
/**
 * Python's `\b` knows Unicode letters and digits, JavaScript's does not and would take the `a` of `éa` for an article.
 * A combining mark is no word character in either.
 */
const UNICODE_ARTICLES = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;
// deno-lint-ignore no-control-regex
const ASCII = /^[\x00-\x7f]*$/;

/**
 * The form in which answers are compared: lower case, without punctuation and articles, words joined by one space
 * (SQuAD's rules; Search-R1 qa_em.py and verl 0.9.1 search_r1_like_qa_em.py, `normalize_answer`).
 *
 * Agrees with Python on Unicode text: only ASCII punctuation is removed, lower-casing is not case folding (`ß` stays).
 */
export function normalizeAnswer(text: string): string {
  const letters = text.toLowerCase().replace(PUNCTUATION, "");
  const articles = ASCII.test(letters) ? ARTICLES : UNICODE_ARTICLES;
  return splitWhitespace(letters.replace(articles, " ")).join(" ");
}
