/**
 * Serves a corpus with BM25 over Search-R1's retrieval contract.
 *
 *     deno run -A scripts/serve_retriever.ts --corpus corpus.jsonl --port 8000
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { z } from "zod";
import { createBm25Index } from "../lib/retrieval/bm25.ts";
import { readCorpus } from "../lib/retrieval/read_corpus.ts";
import { serveRetriever } from "../lib/retrieval/server.ts";

const USAGE = `Serves a corpus with BM25: POST /retrieve as Search-R1's server, GET /health.

  --corpus FILE       JSON Lines with id and contents, also as .gz; required
  --port N            default 8000; 0 takes a free port
  --host ADDRESS      default 127.0.0.1 (this machine only)
  --topk N            documents for a request that names no number, default 3
  --k1 X, --b X       BM25, default 1.2 and 0.75 (pyserini: 0.9 and 0.4)
  --stop-words LIST   none (default) or english
`;

const argumentsSchema = z.object({
  corpus: z.string({ error: "is required" }).min(1, "is required"),
  port: z.coerce.number().int().min(0).max(65535).default(8000),
  host: z.string().default("127.0.0.1"),
  topk: z.coerce.number().int().min(1).max(1000).default(3),
  k1: z.coerce.number().min(0).default(1.2),
  b: z.coerce.number().min(0).max(1).default(0.75),
  "stop-words": z.enum(["none", "english"]).default("none"),
});
type Arguments = z.infer<typeof argumentsSchema>;

/** The command line, or the exit code where there is nothing to serve. */
function readArguments(args: string[]): Arguments | number {
  const usage = (message: string) => {
    process.stderr.write(`${message}\n\n${USAGE}`);
    return 2;
  };
  let values: Record<string, string | boolean | undefined>;
  try {
    const text = { type: "string" } as const;
    values = parseArgs({
      args,
      options: {
        corpus: text,
        port: text,
        host: text,
        topk: text,
        k1: text,
        b: text,
        "stop-words": text,
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    return usage((error as Error).message);
  }
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const parsed = argumentsSchema.safeParse(values);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return usage(`--${issue.path.join(".")} ${issue.message}`);
}

async function serve({ corpus, host, port, topk, k1, b, "stop-words": stopWords }: Arguments): Promise<number> {
  const documents = await Array.fromAsync(readCorpus(corpus));
  const index = createBm25Index(documents, { k1, b, stopWords });
  const server = serveRetriever(index, { host, port, defaultTopK: topk });
  process.stdout.write(`Serving ${documents.length} documents at ${server.url}/retrieve\n`);

  const exitCode = await new Promise<number>((stop) => {
    process.once("SIGINT", () => stop(130));
    process.once("SIGTERM", () => stop(143));
  });
  await server.close();
  return exitCode;
}

if (import.meta.main) {
  const settings = readArguments(process.argv.slice(2));
  if (typeof settings === "number") process.exit(settings);
  try {
    process.exit(await serve(settings));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(3);
  }
}
