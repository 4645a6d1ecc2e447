import { html, type Markup } from "../html.ts";
import type { ContrastTable } from "../result_table.ts";
import { tableGrid } from "../table_grid.ts";
import { notesList } from "./notes.ts";

/** A contrast over the points of a grid as a plain table. */
export function contrastSection(table: ContrastTable, prefix: string): Markup {
  const { title, columns, rows, notes } = tableGrid(table);
  const alignment = (index: number) => columns[index].align === "right" ? "number" : "";
  return html`
    <div class="scroll" role="region" tabindex="0" aria-label="${title}">
      <table>
        <caption>${title}</caption>
        <thead>
          <tr>
            ${columns.map(({ header }, index) => html`<th scope="col" class="${alignment(index)}">${header}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map((cells) =>
            html`<tr>${
              cells.map(({ text, tone }, index) => html`<td class="${alignment(index)} ${tone ?? ""}">${text}</td>`)
            }</tr>`
          )}
        </tbody>
      </table>
    </div>
    ${notesList(prefix, [], notes)}
  `;
}
