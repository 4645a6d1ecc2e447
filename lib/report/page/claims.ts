import { formatDifference, formatInterval, formatNumber, formatPercent, MISSING } from "../format_number.ts";
import { html, type Markup } from "../html.ts";
import { type Claim, type ClaimTable, publishedSources, sourceOf } from "../result_table.ts";
import { verdictTone } from "../table_grid.ts";
import { notesList } from "./notes.ts";

const SIGNS: Readonly<Record<Claim["verdict"], string>> = {
  supported: "✓",
  contradicted: "✕",
  inconclusive: "≈",
  "not-run": "○",
};

/** The claims, each with its verdict, numbers and the sentence made from them. */
export function claimSection(table: ClaimTable): Markup {
  const sources = publishedSources(table);
  return html`<ol class="claims">${table.claims.map((claim) => claimItem(claim, table, sources))}</ol>
${notesList("claims", sources, table.notes)}`;
}

/** A verdict that can be told without colour. */
function verdictBadge(verdict: Claim["verdict"]): Markup {
  return html`<span class="badge ${verdictTone(verdict)}"><span aria-hidden="true">${SIGNS[verdict]}</span> ${
    verdict.replace("-", " ")
  }</span>`;
}

function claimItem(claim: Claim, table: ClaimTable, sources: readonly string[]): Markup {
  const { published } = claim;
  return html`
    <li class="claim" id="claim-${claim.id}">
      <div class="claim-text">
        <p class="claim-head"><span class="claim-id">${claim.id}</span> ${verdictBadge(claim.verdict)}</p>
        <h3 dir="auto">${claim.statement}</h3>
        <p class="finding" dir="auto">${claim.sentence}</p>
        <p class="contrast" dir="auto">${claim.contrast}${claim.source === undefined
          ? ""
          : ` · source: ${claim.source}`}</p>
      </div>
      <dl class="numbers">
        <div>
          <dt>Difference</dt>
          <dd><strong>${formatDifference(claim.estimate, claim.digits)}</strong></dd>
        </div>
        <div>
          <dt>${formatPercent(table.level ?? 0.95)} interval</dt>
          <dd>${formatInterval(claim.interval, claim.digits)}</dd>
        </div>
        <div>
          <dt>Margin</dt>
          <dd>${formatNumber(claim.margin, claim.digits)}</dd>
        </div>
        <div>
          <dt>Published</dt>
          <dd>${publishedDifference(published, sources)}</dd>
        </div>
      </dl>
    </li>
  `;
}

function publishedDifference(published: Claim["published"], sources: readonly string[]): Markup | string {
  if (published === null) return MISSING;
  const source = sources.indexOf(sourceOf(published)) + 1;
  return html`${formatDifference(published.value)} <sup><a href="#claims-source-${source}">[${source}]</a></sup>`;
}
