/**
 * Speed and recall of the BM25 index, with SQLite's FTS5 in the same run.
 *
 *     deno run -A scripts/bench/retrieval.ts
 *
 * The questions are HotpotQA's and 2WikiMultihopQA's where the reference folder is there (COEVO_SHARED or ../shared),
 * otherwise generated ones, labelled synthetic.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { type Bm25Index, type Bm25Options, createBm25Index } from "../../lib/retrieval/bm25.ts";
import { type Document, textOf, titleOf } from "../../lib/retrieval/document.ts";
import { readCorpus } from "../../lib/retrieval/read_corpus.ts";
import { luceneLike } from "../../lib/retrieval/tokenizer.ts";
import { randomStream } from "../../lib/random/stream.ts";

interface Question {
  question: string;
  /** Absent for generated questions. */
  gold_doc_ids?: string[];
}

interface Collection {
  name: string;
  corpus: Document[];
  questions: Question[];
}

const SHARED = process.env.COEVO_SHARED ?? "../shared";
const SYNTHETIC_DOCUMENTS = 100_000;
/** As in the corpus that FTS5's figures in earlier measurements were taken on. */
const SYNTHETIC_WORDS = 40;

const print = (line: string) => process.stdout.write(`${line}\n`);

async function readCollections(): Promise<Collection[]> {
  const read = async (name: string, corpus: string, questions: string): Promise<Collection> => ({
    name,
    corpus: await Array.fromAsync(readCorpus(join(SHARED, corpus))),
    questions: readFileSync(join(SHARED, questions), "utf8").trim().split("\n").map((line) => JSON.parse(line)),
  });
  if (!existsSync(join(SHARED, "data/qa/hotpot500_corpus.jsonl"))) return [syntheticCollection("synthetic", 5000, 90)];
  return [
    await read("HotpotQA", "data/qa/hotpot500_corpus.jsonl", "data/qa/hotpot500_questions.jsonl"),
    await read("2WikiMultihopQA", "data/qa/2wiki_corpus.jsonl", "data/qa/2wiki101_questions.jsonl"),
  ];
}

/** Words with Zipf-like frequencies: rank r of 50,000 with probability about 1/r, as in English. */
function syntheticCollection(name: string, documents: number, words: number): Collection {
  const stream = randomStream("bench", name);
  const text = (length: number) =>
    Array.from({ length }, () => `w${Math.floor(50_000 ** stream.next()).toString(36)}`).join(" ");
  return {
    name,
    corpus: Array.from(
      { length: documents },
      (_, i) => ({ id: String(i), contents: `"${text(2)}"\n${text(words - 2)}` }),
    ),
    questions: Array.from({ length: 500 }, () => ({ question: text(18) })),
  };
}

/** Milliseconds of the fastest of `rounds` calls. */
function fastest(rounds: number, body: () => void): number {
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    body();
    return performance.now() - start;
  });
  return Math.min(...times);
}

/** Mean share of a question's gold documents among the best `k`. */
function recall(index: Bm25Index, questions: readonly Question[], k: number): number {
  const shares = questions.map(({ question, gold_doc_ids = [] }) => {
    const found = new Set(index.searchOne(question, k).map(({ document }) => document.id));
    return gold_doc_ids.filter((id) => found.has(id)).length / gold_doc_ids.length;
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

/** Questions a second with SQLite's FTS5 (top 3, all words OR-ed, its own fixed k1 = 1.2 and b = 0.75). */
function fts5Rate(corpus: readonly Document[], questions: readonly Question[]): number {
  const database = new DatabaseSync(":memory:");
  database.exec("create virtual table passages using fts5(title, text); begin");
  const insert = database.prepare("insert into passages values (?, ?)");
  for (const document of corpus) insert.run(titleOf(document), textOf(document));
  database.exec("commit");
  const select = database.prepare("select rowid from passages where passages match ? order by bm25(passages) limit 3");
  const some = questions.slice(0, 100);
  const milliseconds = fastest(1, () => {
    for (const { question } of some) select.all(luceneLike.tokenize(question).map((word) => `"${word}"`).join(" OR "));
  });
  database.close();
  return some.length / milliseconds * 1000;
}

function measureQuestions({ name, corpus, questions }: Collection): void {
  const fts5 = fts5Rate(corpus, questions);
  print(`${name}: ${corpus.length} documents, ${questions.length} questions; FTS5 ${fts5.toFixed(0)} questions/s`);
  const settings: Bm25Options[] = [
    {},
    { stopWords: "english" },
    { k1: 0.9, b: 0.4 },
    { k1: 0.9, b: 0.4, stopWords: "english" },
    { titleWeight: 2 },
  ];
  for (const options of settings) {
    const index = createBm25Index(corpus, options);
    const rate = questions.length / fastest(5, () =>
      questions.forEach(({ question }) => index.searchOne(question, 3))) *
      1000;
    const recalls = questions[0].gold_doc_ids === undefined
      ? ""
      : `, recall@3 ${recall(index, questions, 3).toFixed(3)}, recall@10 ${recall(index, questions, 10).toFixed(3)}`;
    print(
      `  ${rate.toFixed(0).padStart(6)} questions/s (${(rate / fts5).toFixed(0)} × FTS5)${recalls}  ${
        JSON.stringify(options)
      }`,
    );
  }
}

function measureBuild(): void {
  const { corpus, questions } = syntheticCollection("synthetic", SYNTHETIC_DOCUMENTS, SYNTHETIC_WORDS);
  let index: Bm25Index | undefined;
  const build = fastest(2, () => index = createBm25Index(corpus));
  const query = fastest(2, () => questions.forEach(({ question }) => index!.searchOne(question, 3))) / questions.length;
  print(
    `synthetic: ${SYNTHETIC_DOCUMENTS} documents of ${SYNTHETIC_WORDS} words: build ${
      (build / 1000).toFixed(2)
    } s, query ${query.toFixed(2)} ms`,
  );
}

/** 288 facts of three words, as in the micro world. */
function measureSmall(): void {
  const stream = randomStream("bench", "small");
  const corpus = Array.from(
    { length: 288 },
    (_, i) => ({ id: String(i), contents: `"e${Math.floor(i / 6)}"\nr${i % 6} e${stream.below(48)}` }),
  );
  const index = createBm25Index(corpus, { tokenizer: "whitespace", b: 0, titleWeight: 2, repeatedQueryWords: "once" });
  const rounds = 20_000;
  const time = fastest(3, () => {
    for (let i = 0; i < rounds; i++) index.searchOne(`e${i % 48} r${i % 6}`, 1);
  });
  print(`288 facts, two words, top 1: ${(time / rounds * 1000).toFixed(1)} µs a query`);
}

if (import.meta.main) {
  for (const collection of await readCollections()) measureQuestions(collection);
  measureBuild();
  measureSmall();
}
