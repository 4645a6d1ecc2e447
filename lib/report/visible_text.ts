/** Control and format characters, save line feed, tab, the joiners that scripts and emoji need, and visible Arabic signs. */
const UNSEEN = /(?![\n\t\u200c\u200d\u0600-\u0605\u06dd])[\p{Cc}\p{Cf}]/gu;

/**
 * Text that shows everything it holds: what a terminal or a browser would obey or hide becomes visible.
 *
 * Control characters, directional overrides, zero-width and tag characters become `[U+0000]`, `[U+202E]` and so on. Line
 * feeds and tabs stay, other line ends become line feeds, lone surrogates U+FFFD. Joiners (U+200C, U+200D) stay, because
 * scripts and emoji need them.
 *
 * Every renderer of a report passes text that a model wrote through this first.
 */
export function visibleText(text: string): string {
  return text.toWellFormed().replace(/\r\n?|[\u2028\u2029]/g, "\n").replace(UNSEEN, (character) => {
    return `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}

/** The visible text on one line, cut behind `length` characters with an ellipsis; whole where it fits. */
export function shortText(text: string, length: number): string {
  const line = oneLine(text);
  const characters = [...graphemes.segment(line)].map(({ segment }) => segment);
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join("").trimEnd()}…`;
}

/** The visible text with every run of white space as one space. */
export function oneLine(text: string): string {
  return visibleText(text).replace(/\s+/g, " ").trim();
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
