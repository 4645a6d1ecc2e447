const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
const HALF_WIDTH = /^[\uff61-\uffdc\uffe8-\uffee]/;
const ZERO = /^[\p{Mn}\p{Me}\u200c\u200d\ufe0f]+$/u;

/** Columns that a text takes in a terminal: ideographs and emoji two, combining marks none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += segmentWidth(segment);
  return width;
}

/** Lines of at most `width` columns; words longer than a line are cut. Line feeds in the text are kept. */
export function wrapText(text: string, width: number): string[] {
  return text.split("\n").flatMap((paragraph) => wrapParagraph(paragraph, Math.max(1, width)));
}

function wrapParagraph(paragraph: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of paragraph.split(/[ \t]+/).flatMap((word) => cut(word, width))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (displayWidth(longer) <= width) {
      line = longer;
      continue;
    }
    lines.push(line);
    line = word;
  }
  return [...lines, line];
}

/** A word in pieces of at most `width` columns. */
function cut(word: string, width: number): string[] {
  if (displayWidth(word) <= width) return [word];
  const pieces: string[] = [];
  let piece = "";
  for (const { segment } of graphemes.segment(word)) {
    if (piece !== "" && displayWidth(piece) + segmentWidth(segment) > width) {
      pieces.push(piece);
      piece = "";
    }
    piece += segment;
  }
  return [...pieces, piece];
}

function segmentWidth(segment: string): number {
  if (ZERO.test(segment)) return 0;
  if (HALF_WIDTH.test(segment)) return 1;
  return WIDE.test(segment) ? 2 : 1;
}
