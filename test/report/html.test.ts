import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { escapeHtml, html, renderHtml, trusted } from "../../lib/report/html.ts";
import { visibleText } from "../../lib/report/visible_text.ts";
import { HOSTILE } from "./fixture.ts";

test.each(Object.entries(HOSTILE))(
  "html`` keeps hostile text (%s) as text in content and in attributes",
  (_name, text) => {
    const page = renderHtml(html`
      <!doctype html>
      <body>
        <p id="p" title="${text}">${text}</p>
      </body>
    `);
    const { document } = parseHTML(page);
    const paragraph = document.getElementById("p")!;
    expect(document.querySelectorAll("body *")).toHaveLength(1);
    expect(paragraph.textContent).toBe(visibleText(text));
    expect(paragraph.getAttribute("title")).toBe(visibleText(text));
    expect(paragraph.attributes).toHaveLength(2);
  },
);

test("escapeHtml() leaves none of HTML's own characters, nor ]]> nor a null byte", () => {
  expect(escapeHtml(`<a href='x' b="y">&\`]]>\u0000`)).toBe(
    "&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;&#96;]]&gt;[U+0000]",
  );
});

test("html`` joins lists, nests markup, and writes nothing for nothing", () => {
  const items = ["<a>", "b"].map((item) => html`<li>${item}</li>`);
  expect(renderHtml(html`<ul>${items}${null}${undefined}${false}${3}</ul>`)).toBe(
    "<ul><li>&lt;a&gt;</li><li>b</li>3</ul>",
  );
  expect(renderHtml(html`${trusted("<b>")}`)).toBe("<b>");
});

test("html`` takes no object from JSON for markup", () => {
  const forged = JSON.parse(`{"Symbol(markup)":"<script>","markup":"<script>"}`);
  expect(() => renderHtml(html`${forged}`)).toThrow(TypeError);
});
