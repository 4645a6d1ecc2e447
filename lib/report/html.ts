import { visibleText } from "./visible_text.ts";

const MARKUP = Symbol("markup");

/** A piece of HTML. Only {@link html} and {@link trusted} make one, so text cannot pass for it. */
export interface Markup {
  readonly [MARKUP]: string;
}

/** What a template takes: text is escaped, markup is not, lists are joined, nothing stands for nothing. */
export type Insertable = Markup | string | number | null | undefined | false | readonly Insertable[];

/**
 * A template whose insertions cannot become markup, in an element's content or in a quoted attribute:
 * `` html`<p title="${text}">${text}</p>` ``. Characters that a browser hides or obeys become visible
 * ({@link visibleText}).
 *
 * It does not make a URL, a script or a style safe: nothing of others goes there.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Insertable[]): Markup {
  return trusted(strings.map((string, index) => index === 0 ? string : insert(values[index - 1]) + string).join(""));
}

/** Declares a string to be markup: our own style sheet, or a figure of `plots/`. */
export function trusted(markup: string): Markup {
  return { [MARKUP]: markup };
}

/** The HTML as a string, without white space around it. */
export function renderHtml(markup: Markup): string {
  return markup[MARKUP].trim();
}

/** Text as it must stand in HTML or XML content and quoted attributes. */
export function escapeHtml(text: string): string {
  return visibleText(text)
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;")
    .replace(/'/g, "&#39;")
    .replace(/`/g, "&#96;");
}

function insert(value: Insertable): string {
  if (value === null || value === undefined || value === false) return "";
  if (typeof value === "string") return escapeHtml(value);
  if (typeof value === "number") return escapeHtml(`${value}`);
  if (isMarkup(value)) return value[MARKUP];
  return value.map(insert).join("");
}

function isMarkup(value: Markup | readonly Insertable[]): value is Markup {
  return MARKUP in value;
}
