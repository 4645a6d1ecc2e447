import { html, type Markup, trusted } from "../html.ts";
import type { Figure } from "./report_page.ts";

/** Width that figures are drawn at for wide pages, in CSS pixels. */
export const WIDE_FIGURE = 860;

/** Width that figures are drawn at for telephones. */
export const NARROW_FIGURE = 360;

/** A figure for a page from a function that draws it at a given width. */
export function figureOf(
  { id, title, caption, draw }: { id: string; title: string; caption: string; draw: (width: number) => string },
): Figure {
  return { id, title, caption, wide: draw(WIDE_FIGURE), narrow: draw(NARROW_FIGURE) };
}

/** A figure under its title, with its caption. Of the two drawings the style sheet shows the one that fits. */
export function figureBlock({ id, title, caption, wide, narrow }: Figure): Markup {
  return html`
    <figure id="figure-${id}">
      <h3>${title}</h3>
      <div class="drawing for-wide">${trusted(wide)}</div>
      <div class="drawing for-narrow">${trusted(narrow)}</div>
      <figcaption dir="auto">${caption}</figcaption>
    </figure>
  `;
}
