/** `deno task store rebuild|info|query "<sql>" [--out DIR]`: the DuckDB store that is derived from the journals. */
import { existsSync } from "node:fs";
import { helpText, nonEmpty, parseArguments, unknownName, UsageError } from "../lib/recipe/command_line.ts";
import type { CommandIo, OutputStream } from "../lib/recipe/command_io.ts";
import { EXIT, isInfrastructureError } from "../lib/recipe/exit_code.ts";
import { runScript } from "../lib/recipe/run_script.ts";
import { queryStore, rebuildStore, storePath } from "../lib/record/store.ts";
import { rowGrid } from "../lib/report/row_grid.ts";
import { gridToTerminal } from "../lib/report/terminal_table.ts";

const FLAGS = { out: { value: "DIR", help: "results root; default: results", parse: nonEmpty } };
const ACTIONS = ["rebuild", "info", "query"];
const USAGE = `deno task store rebuild        make the database from the journals again
deno task store info           its path, and the runs by arm
deno task store query "<sql>"  rows of a query: a table on a terminal, JSON Lines elsewhere`;
const RUNS_BY_ARM =
  "select recipe, scale, arm, variant, count(*) as runs, min(started_at) as first, max(started_at) as last from runs group by all order by all";

await runScript(async (args, io) => {
  const { flags, words: [action, sql, ...rest] } = parseArguments(args, FLAGS);
  const out = flags.out as string | undefined ?? "results";
  if (action === undefined) {
    io.stderr.write(`${helpText(USAGE, FLAGS)}\n`);
    return EXIT.usage;
  }
  if (!ACTIONS.includes(action)) throw new UsageError(unknownName("action", action, ACTIONS));
  if ((action === "query") !== (sql !== undefined) || rest.length > 0) {
    throw new UsageError(
      action === "query"
        ? 'give one query, in quotes: deno task store query "select * from runs"'
        : `unexpected ${JSON.stringify(sql)}: ${action} takes no more than --out DIR`,
    );
  }
  if (!existsSync(out)) throw new UsageError(`there is no folder ${JSON.stringify(out)}; --out DIR names the results`);
  if (action === "rebuild") await rebuild(out, io);
  if (action === "info") {
    io.stdout.write(`${storePath(out)}\n`);
    writeRows(await rowsOf(out, RUNS_BY_ARM), io.stdout);
  }
  if (action === "query") writeRows(await rowsOf(out, sql), io.stdout);
  return EXIT.done;
});

async function rebuild(out: string, { stdout, stderr }: CommandIo): Promise<void> {
  const { path, runs, note } = await rebuildStore(out);
  if (note !== null) stderr.write(`${note}\n`);
  stdout.write(`${path}: ${runs} runs\n`);
}

/** What is wrong with a query, or a store that is not there yet, is the user's to mend: one line. */
async function rowsOf(out: string, sql: string): Promise<Record<string, unknown>[]> {
  try {
    return await queryStore(out, sql);
  } catch (error) {
    if (!(error instanceof Error) || isInfrastructureError(error)) throw error;
    throw new UsageError(error.message.split("\n")[0], { cause: error });
  }
}

/** A table for a person, JSON Lines for a program. */
function writeRows(
  rows: readonly Record<string, unknown>[],
  { write, isTerminal, columns, hasColor }: OutputStream,
): void {
  if (isTerminal) write(gridToTerminal(rowGrid(rows), { width: columns, colour: hasColor }));
  else for (const row of rows) write(`${JSON.stringify(row)}\n`);
}
