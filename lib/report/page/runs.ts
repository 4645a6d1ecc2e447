import { html, type Markup } from "../html.ts";
import type { RunEntry } from "./report_page.ts";
import { relativeLink } from "./relative_link.ts";

/** The runs behind the numbers: what made each, from which code, and its files. */
export function runsTable(runs: readonly RunEntry[]): Markup {
  return html`
    <div class="scroll" role="region" tabindex="0" aria-label="Runs">
      <table class="runs">
        <thead>
          <tr>
            <th scope="col">Arm</th>
            <th scope="col" class="number">Seed</th>
            <th scope="col">State</th>
            <th scope="col">Commit</th>
            <th scope="col">Config</th>
          </tr>
        </thead>
        ${runs.map(runRows)}
      </table>
    </div>
  `;
}

function runRows({ arm, seed, state, command, commit, isModified, configHash, files }: RunEntry): Markup {
  const links = files.map(({ name, path }) =>
    html`
      <a href="${relativeLink(path)}">${name}</a>
    `
  );
  return html`
    <tbody>
      <tr>
        <th scope="row">${arm}</th>
        <td class="number">${seed}</td>
        <td class="${state === "finished" ? "state" : "state unfinished"}">${state}</td>
        <td><code title="${commit}">${commit.slice(0, 12)}</code>${isModified && " + changes"}</td>
        <td><code title="${configHash}">${configHash.slice(0, 12)}</code></td>
      </tr>
      <tr class="command">
        <td colspan="5">
          <details>
            <summary>Command and files</summary>
            <pre tabindex="0"><code>${command}</code></pre>
            <p class="files">${links}</p>
          </details>
        </td>
      </tr>
    </tbody>
  `;
}
