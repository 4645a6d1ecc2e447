/** `deno task store rebuild|info|query "<sql>" [--out DIR]`: the DuckDB store that is derived from the journals. */
import process from "node:process";
import { nonEmpty, parseArguments, unknownName, UsageError } from "../lib/recipe/command_line.ts";
import { exitCode } from "../lib/recipe/command.ts";
import { queryStore, rebuildStore, storePath } from "../lib/record/store.ts";

const FLAGS = { out: { value: "DIR", help: "results root; default: results", parse: nonEmpty } };
const ACTIONS = ["rebuild", "info", "query"];

try {
  const { flags, words } = parseArguments(Deno.args, FLAGS);
  const [action, sql] = words;
  const out = flags.out as string | undefined ?? "results";
  if (!ACTIONS.includes(action)) throw new UsageError(unknownName("action", action ?? "", ACTIONS));
  if (action === "rebuild") {
    const { path, runs, note } = await rebuildStore(out);
    if (note !== null) process.stderr.write(`${note}\n`);
    process.stdout.write(`${path}: ${runs} runs\n`);
  } else {
    if (action === "query" && sql === undefined) {
      throw new UsageError('give a query: deno task store query "select * from runs"');
    }
    const query = sql ??
      "select recipe, scale, arm, variant, count(*)::int as runs, min(started_at) as first, max(started_at) as last from runs group by all order by all";
    if (action === "info") process.stdout.write(`${storePath(out)}\n`);
    for (const row of await queryStore(out, query)) process.stdout.write(`${JSON.stringify(row)}\n`);
  }
} catch (error) {
  const { code, message } = exitCode(error);
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
