/**
 * Python's `str.isspace` set, which the published scorers strip and split on. JavaScript's `\s` and `trim` differ: they
 * lack U+001C to U+001F and U+0085, and they have U+FEFF.
 */
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const RUN = new RegExp(`[${SPACE}]+`);
const LEADING = new RegExp(`^[${SPACE}]+`);
const WHITESPACE = new RegExp(`[${SPACE}]`);

/** The words of a text, as Python's `str.split()` gives them: no empty ones. */
export function splitWhitespace(text: string): string[] {
  return text.split(RUN).filter((word) => word !== "");
}

/** The text without whitespace at its ends, as Python's `str.strip()` gives it. */
export function stripWhitespace(text: string): string {
  let end = text.length;
  // From the right by hand: an unanchored pattern like /[ ]+$/ takes quadratic time on long runs of spaces.
  while (end > 0 && WHITESPACE.test(text[end - 1])) end--;
  return text.slice(0, end).replace(LEADING, "");
}
