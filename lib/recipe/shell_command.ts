/** Words as one line that a POSIX shell reads back as the same words; only what needs quotes gets them. */
export function shellCommand(words: readonly string[]): string {
  return words.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
}
