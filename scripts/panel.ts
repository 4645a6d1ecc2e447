/**
 * `deno task panel <questions.jsonl> <name> [--source TEXT] [--to FILE]`: splits questions into a fixed panel and writes
 * its ids and hash to data/panels/<name>.json. The questions themselves are not written.
 */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Panel, panelText, readPanel, splitQuestions } from "../lib/data/panel.ts";
import { readQuestions } from "../lib/data/read_questions.ts";
import { nonEmpty, parseArguments, UsageError } from "../lib/recipe/command_line.ts";
import { EXIT } from "../lib/recipe/exit_code.ts";
import { runScript } from "../lib/recipe/run_script.ts";

const USAGE = "usage: deno task panel <questions.jsonl> <name> [--source TEXT] [--to FILE]";
const PANELS = fileURLToPath(new URL("../data/panels/", import.meta.url));
const FLAGS = {
  source: { value: "TEXT", help: "where the questions come from; default: the file's name", parse: nonEmpty },
  to: { value: "FILE", help: "default: data/panels/<name>.json", parse: nonEmpty },
};

await runScript(async (args, io) => {
  const { flags, words: [questions, name, ...rest] } = parseArguments(args, FLAGS);
  if (name === undefined || rest.length > 0) throw new UsageError(USAGE);
  if (!/^[a-z0-9][a-z0-9.-]*$/.test(name)) {
    throw new UsageError(`${JSON.stringify(name)} is no panel name: use small letters, digits, dots and dashes`);
  }
  if (!existsSync(questions)) throw new UsageError(`there is no file ${questions}; ${USAGE}`);
  const path = flags.to as string | undefined ?? join(PANELS, `${name}.json`);
  const panel = await splitFile(questions, name, flags.source as string | undefined ?? basename(questions));
  if (existsSync(path) && (await readPanel(path)).hash !== panel.hash) {
    throw new UsageError(`${path} holds other questions; results name that panel, so give the new one another name`);
  }
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, panelText(panel));
  const { train, verification, test } = panel.splits;
  io.stdout.write(
    `${path}: ${train.length} training, ${verification.length} verification and ${test.length} test questions, hash ${panel.hash}\n`,
  );
  return EXIT.done;
});

/** The questions of a file as a panel; that they cannot be read or split is the user's to mend. */
async function splitFile(questions: string, name: string, source: string): Promise<Panel> {
  try {
    return splitQuestions(name, source, await readQuestions(questions, name));
  } catch (error) {
    const isInput = error instanceof SyntaxError || error instanceof RangeError;
    throw isInput ? new UsageError(error.message, { cause: error }) : error;
  }
}
