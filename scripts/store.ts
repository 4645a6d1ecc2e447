/** `deno task store rebuild|info|query "<sql>" [--out DIR]`: the DuckDB store that is derived from the journals. */
import { existsSync } from "node:fs";
import process from "node:process";
import { nonEmpty, parseArguments, unknownName, UsageError } from "../lib/recipe/command_line.ts";
import { exitCode, isInfrastructureError } from "../lib/recipe/exit_code.ts";
import { queryStore, rebuildStore, storePath } from "../lib/record/store.ts";

const FLAGS = { out: { value: "DIR", help: "results root; default: results", parse: nonEmpty } };
const ACTIONS = ["rebuild", "info", "query"];
const RUNS_BY_ARM =
  "select recipe, scale, arm, variant, count(*) as runs, min(started_at) as first, max(started_at) as last from runs group by all order by all";

async function main(args: readonly string[]): Promise<void> {
  const { flags, words: [action, sql, ...rest] } = parseArguments(args, FLAGS);
  const out = flags.out as string | undefined ?? "results";
  if (!ACTIONS.includes(action)) throw new UsageError(unknownName("action", action ?? "", ACTIONS));
  if ((action === "query") !== (sql !== undefined) || rest.length > 0) {
    throw new UsageError(
      action === "query"
        ? 'give one query, in quotes: deno task store query "select * from runs"'
        : `unexpected ${JSON.stringify(sql)}: ${action} takes no more than --out DIR`,
    );
  }
  if (!existsSync(out)) throw new UsageError(`there is no folder ${JSON.stringify(out)}; --out DIR names the results`);
  if (action === "rebuild") {
    const { path, runs, note } = await rebuildStore(out);
    if (note !== null) process.stderr.write(`${note}\n`);
    process.stdout.write(`${path}: ${runs} runs\n`);
    return;
  }
  if (action === "info") process.stdout.write(`${storePath(out)}\n`);
  for (const row of await rowsOf(out, sql ?? RUNS_BY_ARM)) process.stdout.write(`${JSON.stringify(row)}\n`);
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

try {
  await main(Deno.args);
} catch (error) {
  const { code, message } = exitCode(error);
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
