import { formatCount, formatInterval, formatNumber, formatPercent, MISSING } from "../format_number.ts";
import { html, type Markup } from "../html.ts";
import {
  type Measurement,
  publishedSources,
  type ResultCell,
  resultCells,
  type ResultColumn,
  type ResultTable,
  seedCount,
  sourceOf,
} from "../result_table.ts";
import { notesList } from "./notes.ts";
import { seedStrip, type StripRail, stripRail } from "./seed_strip.ts";

/** A table of arms × metrics, grouped by metric, every seed drawn as a dot. */
export function resultSection(table: ResultTable, prefix: string): Markup {
  const cells = resultCells(table);
  const sources = publishedSources(table);
  const hasVerdicts = cells.some(({ measurement }) => measurement.verdict !== undefined);
  const interval = `${formatPercent(table.level ?? 0.95)} interval`;
  const verdictHeader = hasVerdicts && html`<th scope="col">Verdict</th>`;
  const groups = table.columns.map((column) => ({ column, cells: cells.filter((cell) => cell.column === column) }))
    .filter(({ cells }) => cells.length > 0);
  const context = { prefix, sources, hasVerdicts };
  return html`
    <div class="scroll" role="region" tabindex="0" aria-label="${table.title}">
      <table class="results">
        <caption>${table.title}</caption>
        <thead>
          <tr>
            <th scope="col">Arm</th>
            <th scope="col" class="number">Mean</th>
            <th scope="col" class="number">${interval}</th>
            <th scope="col">Each seed</th>
            <th scope="col" class="number">Seeds</th>
            <th scope="col" class="number">Items</th>
            <th scope="col" class="number">Published</th>
            ${verdictHeader}
          </tr>
        </thead>
        ${groups.map(({ column, cells }) => metricGroup(column, cells, context))}
      </table>
    </div>
    ${notesList(prefix, sources, table.notes)}
  `;
}

interface GroupContext {
  prefix: string;
  sources: readonly string[];
  hasVerdicts: boolean;
}

function metricGroup(column: ResultColumn, cells: readonly ResultCell[], context: GroupContext): Markup {
  const rail = stripRail(cells.map(({ measurement }) => measurement));
  const protocol = column.protocol !== undefined && html`<span class="protocol">${column.protocol}</span>`;
  const columns = context.hasVerdicts ? 8 : 7;
  return html`
    <tbody>
      <tr class="metric">
        <th scope="rowgroup" colspan="${columns}">
          <div class="metric-name">${column.label} ${protocol}</div>
        </th>
      </tr>
      ${cells.map((cell) => armRow(cell, rail, context))}
    </tbody>
  `;
}

function armRow(
  { row, column, measurement }: ResultCell,
  rail: StripRail,
  context: GroupContext,
): Markup {
  const { mean, interval, items, seeds, verdict } = measurement;
  const { digits } = column;
  const eachSeed = seeds.map(({ value }) => value === null ? "failed" : formatNumber(value, digits)).join(" ");
  const verdictCell = context.hasVerdicts && html`<td class="verdict">${verdict?.replace("-", " ") ?? MISSING}</td>`;
  return html`
    <tr>
      <th scope="row" dir="auto">${row.label ?? row.arm}</th>
      <td class="number"><strong>${formatNumber(mean, digits)}</strong></td>
      <td class="number">${formatInterval(interval, digits)}</td>
      <td>${seedStrip(measurement, rail)} <span class="each-seed">${eachSeed}</span></td>
      <td class="number">${seedCount(seeds)}</td>
      <td class="number">${formatCount(items)}</td>
      <td class="number">${publishedCell(measurement, digits, context)}</td>
      ${verdictCell}
    </tr>
  `;
}

function publishedCell(
  { published }: Measurement,
  digits: number | undefined,
  { prefix, sources }: GroupContext,
): Markup | string {
  if (!published) return MISSING;
  const source = sources.indexOf(sourceOf(published)) + 1;
  const value = formatNumber(published.value, digits);
  return html`${value} <sup><a href="#${prefix}-source-${source}">[${source}]</a></sup>`;
}
