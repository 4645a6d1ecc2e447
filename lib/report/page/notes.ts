import { html, type Markup } from "../html.ts";

/** Numbered sources, which `#<prefix>-source-<n>` links to, and notes. */
export function notesList(prefix: string, sources: readonly string[], notes: readonly string[]): Markup | null {
  if (sources.length + notes.length === 0) return null;
  const sourceItems = sources.map((source, index) =>
    html`<li id="${prefix}-source-${index + 1}">[${index + 1}] ${source}</li>`
  );
  const noteItems = notes.map((note) => html`<li dir="auto">${note}</li>`);
  return html`
    <ul class="notes">
      ${sourceItems} ${noteItems}
    </ul>
  `;
}
