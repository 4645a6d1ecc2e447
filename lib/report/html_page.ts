import { html, type Insertable, type Markup, renderHtml, trusted } from "./html.ts";
import { claimSection } from "./page/claims.ts";
import { contrastSection } from "./page/contrasts.ts";
import { figureBlock } from "./page/figures.ts";
import type { Fact, ReportPage } from "./page/report_page.ts";
import { resultSection } from "./page/results.ts";
import { runsTable } from "./page/runs.ts";
import { PAGE_STYLE } from "./page/style.ts";
import { textsTable } from "./page/texts.ts";

export { figureOf } from "./page/figures.ts";
export type { EvolvedText, Fact, Figure, ReportPage, RunEntry } from "./page/report_page.ts";

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

interface Section {
  id: string;
  title: string;
  content: Insertable;
}

/**
 * A report as one HTML file that needs nothing else: no script, no network; light and dark, from 400 px up, readable
 * without a mouse. Its policy header forbids everything but its own style, should a text ever escape its escaping.
 */
export function reportPage(page: ReportPage): string {
  const sections = sectionsOf(page);
  const links = sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`);
  const subtitle = page.subtitle !== undefined && html`<p class="subtitle" dir="auto">${page.subtitle}</p>`;
  return `${
    renderHtml(html`
      <!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8">
          <meta name="viewport" content="width=device-width, initial-scale=1">
          <meta name="color-scheme" content="light dark">
          <meta http-equiv="Content-Security-Policy" content="${POLICY}">
          <title>${page.title}</title>
          <style>${trusted(PAGE_STYLE)}</style>
        </head>
        <body>
          <a class="skip" href="#content">Skip to the content</a>
          <header>
            <h1 dir="auto">${page.title}</h1>
            ${subtitle}
            <p class="summary" dir="auto">${page.summary}</p>
            ${factList(page.facts)}
          </header>
          <div class="layout">
            <nav aria-label="Sections">
              <ul>
                ${links}
              </ul>
            </nav>
            <main id="content">
              ${sections.map(sectionBlock)}
            </main>
          </div>
          <footer aria-label="Provenance">
            <h2>Provenance</h2>
            ${factList(page.provenance)}
          </footer>
        </body>
      </html>
    `)
  }\n`;
}

function sectionsOf({ claims, results, contrasts, figures, texts, runs, howToRead }: ReportPage): Section[] {
  const sections: Section[] = [];
  const add = (id: string, title: string, content: Insertable) => sections.push({ id, title, content });
  if (claims !== null && claims.claims.length > 0) add("claims", claims.title, claimSection(claims));
  if (results.length > 0) {
    add(
      "results",
      "Results",
      results.map((table, index) => resultSection(table, `results-${index + 1}`)),
    );
  }
  if (contrasts.length > 0) {
    add(
      "grid",
      "Sensitivity grid",
      contrasts.map((table, index) => contrastSection(table, `grid-${index + 1}`)),
    );
  }
  if (figures.length > 0) add("figures", "Figures", figures.map(figureBlock));
  if (texts !== null && texts.rows.length > 0) {
    add("texts", texts.title, [html`<p class="intro">${texts.intro}</p>`, textsTable(texts.rows)]);
  }
  if (howToRead.length > 0) {
    add(
      "how-to-read",
      "How to read this page",
      howToRead.map((paragraph) => html`<p class="prose">${paragraph}</p>`),
    );
  }
  if (runs.length > 0) add("runs", "Runs", runsTable(runs));
  return sections;
}

function sectionBlock({ id, title, content }: Section): Markup {
  return html`
    <section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${content}
    </section>
  `;
}

function factList(facts: readonly Fact[]): Markup | null {
  if (facts.length === 0) return null;
  const items = facts.map(({ label, value }) =>
    html`
      <div>
        <dt>${label}</dt>
        <dd dir="auto">${value}</dd>
      </div>
    `
  );
  return html`
    <dl class="facts-list">
      ${items}
    </dl>
  `;
}
