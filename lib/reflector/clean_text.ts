/** A character that no instruction should hold: what Unicode calls control, but for tab and newline. */
export const CONTROL_CHARACTER: RegExp = /(?![\t\n])\p{Cc}/u;

const EVERY_CONTROL_CHARACTER = new RegExp(CONTROL_CHARACTER, "gu");

/** Text as a prompt may hold it: newlines as `\n`, no other control characters, no lone surrogates, trimmed. */
export function cleanText(text: string): string {
  return text.replace(/\r\n?/g, "\n").toWellFormed().replace(EVERY_CONTROL_CHARACTER, "").trim();
}

/** At most `maxCharacters` of a text: its beginning and its end, with a note between them about what was left out. */
export function shortenMiddle(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const note = `\n[… ${text.length - maxCharacters} characters left out …]\n`;
  const kept = Math.max(0, maxCharacters - note.length);
  const head = Math.ceil(kept / 2);
  return `${text.slice(0, head)}${note}${text.slice(text.length - (kept - head))}`.toWellFormed();
}
