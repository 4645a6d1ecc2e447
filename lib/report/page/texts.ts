import { html, type Markup } from "../html.ts";
import { shortText } from "../visible_text.ts";
import type { EvolvedText } from "./report_page.ts";

/** Longer texts are folded, in characters. */
const FOLD = 280;

/** Every evolved text in full, with its facts. */
export function textsTable(rows: readonly EvolvedText[]): Markup {
  return html`
    <table class="texts">
      <thead>
        <tr>
          <th scope="col">Id</th>
          <th scope="col">Text</th>
          <th scope="col">Origin</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(textRow)}
      </tbody>
    </table>
  `;
}

function textRow({ id, text, facts, status, isEmphasised }: EvolvedText): Markup {
  return html`
    <tr class="${isEmphasised ? "emphasised" : "plain"}">
      <th scope="row" id="text-${id}">${id}</th>
      <td>${fullText(text)}</td>
      <td class="facts"><span class="status">${status}</span>${facts.map((fact) => html`<span>${fact}</span>`)}</td>
    </tr>
  `;
}

function fullText(text: string): Markup {
  if (text.length <= FOLD) return html`<p class="prose" dir="auto">${text}</p>`;
  return html`
    <details>
      <summary dir="auto">${shortText(text, 160)}</summary>
      <p class="prose" dir="auto">${text}</p>
    </details>
  `;
}
