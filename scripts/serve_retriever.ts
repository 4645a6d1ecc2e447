/**
 * Serves a corpus with BM25 over Search-R1's retrieval contract.
 *
 *     deno run -A scripts/serve_retriever.ts --corpus corpus.jsonl --port 8000
 *
 * @module
 */
import {
  helpText,
  nonEmpty,
  numberUpTo,
  oneOf,
  parseArguments,
  UsageError,
  wholeNumber,
} from "../lib/recipe/command_line.ts";
import type { CommandIo } from "../lib/recipe/command_io.ts";
import { EXIT, InfrastructureError } from "../lib/recipe/exit_code.ts";
import { runScript } from "../lib/recipe/run_script.ts";
import { systemCode } from "../lib/record/record_errors.ts";
import { createBm25Index } from "../lib/retrieval/bm25.ts";
import { readCorpus } from "../lib/retrieval/read_corpus.ts";
import { serveRetriever } from "../lib/retrieval/server.ts";

const USAGE = "deno task serve-retriever --corpus FILE: BM25 as POST /retrieve of Search-R1's server, and GET /health";

const FLAGS = {
  corpus: { value: "FILE", help: "JSON Lines with id and contents, also as .gz; required", parse: nonEmpty },
  port: { value: "N", help: "default 8000; 0 takes a free port", parse: wholeNumber(0, 65_535) },
  host: { value: "ADDRESS", help: "default 127.0.0.1 (this machine only)", parse: nonEmpty },
  topk: { value: "N", help: "documents for a request that names no number, default 3", parse: wholeNumber(1, 1000) },
  k1: { value: "X", help: "BM25, default 1.2 (pyserini: 0.9)", parse: numberUpTo(Infinity) },
  b: { value: "X", help: "BM25, default 0.75 (pyserini: 0.4)", parse: numberUpTo(1) },
  "stop-words": { value: "LIST", help: "none (default) or english", parse: oneOf("none", "english") },
  help: { help: "print this text" },
};

await runScript(async (args, io) => {
  const { flags, words } = parseArguments(args, FLAGS);
  if (flags.help === true) {
    io.stdout.write(`${helpText(USAGE, FLAGS)}\n`);
    return EXIT.done;
  }
  if (words.length > 0) throw new UsageError(`unexpected ${JSON.stringify(words[0])}; --help lists the flags`);
  if (flags.corpus === undefined) throw new UsageError("--corpus is required; --help lists the flags");
  return await serve(flags, io);
});

async function serve(flags: Record<string, unknown>, io: CommandIo): Promise<number> {
  const documents = await describingFaults(() => Array.fromAsync(readCorpus(flags.corpus as string)));
  const index = await describingFaults(() =>
    createBm25Index(documents, {
      k1: flags.k1 as number | undefined ?? 1.2,
      b: flags.b as number | undefined ?? 0.75,
      stopWords: flags["stop-words"] as "none" | "english" | undefined ?? "none",
    })
  );
  const server = await describingFaults(() =>
    serveRetriever(index, {
      host: flags.host as string | undefined ?? "127.0.0.1",
      port: flags.port as number | undefined ?? 8000,
      defaultTopK: flags.topk as number | undefined ?? 3,
    })
  );
  const stopped = new Promise<number>((resolve) => {
    let isStopping = false;
    io.onStopSignal((signal) => {
      // A second signal does not wait for the requests in flight.
      if (isStopping) return resolve(EXIT[signal]);
      isStopping = true;
      void server.close().then(() => resolve(EXIT[signal]));
    });
  });
  io.stdout.write(`Serving ${documents.length} documents at ${server.url}/retrieve\n`);
  return await stopped;
}

/** Tells a corpus that the user has to mend and a system that refuses apart from faults of ours, which pass through. */
async function describingFaults<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (systemCode(error.cause) !== null) throw new InfrastructureError(error.message, { cause: error });
    // Documents that cannot be parsed or indexed, and bytes that are no text.
    const isInput = error instanceof SyntaxError || error instanceof RangeError || error.cause !== undefined;
    throw isInput ? new UsageError(error.message, { cause: error }) : error;
  }
}
