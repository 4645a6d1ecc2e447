import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { randomStream } from "../../lib/random/stream.ts";
import { type Bm25Options, createBm25Index } from "../../lib/retrieval/bm25.ts";
import type { Document } from "../../lib/retrieval/document.ts";

/** Random documents over few words, so that repeats, ties and common words are frequent. */
function randomCorpus(seed: number, size: number, vocabulary = 30): Document[] {
  const stream = randomStream("bm25.test", seed);
  const words = (least: number, most: number) =>
    Array.from(
      { length: least + stream.below(most - least + 1) },
      () => `w${Math.floor(vocabulary * stream.next() ** 2)}`,
    ).join(" ");
  return Array.from({ length: size }, (_, i) => ({ id: `d${i}`, contents: `"${words(1, 3)}"\n${words(0, 25)}` }));
}

function randomQuery(seed: number, vocabulary = 30): string[] {
  const stream = randomStream("bm25.test query", seed);
  return Array.from({ length: 1 + stream.below(6) }, () => `w${stream.below(vocabulary + 3)}`);
}

/** BM25 as the textbook writes it: every document, every word, a full sort. */
function oracle(
  corpus: Document[],
  query: string[],
  { k1 = 1.2, b = 0.75, titleWeight = 1, repeatedQueryWords = "each" }: Bm25Options,
) {
  const texts = corpus.map(({ contents }) => {
    const [title, text] = contents.split("\n").map((part) =>
      part.replaceAll('"', "").split(" ").filter((word) => word !== "")
    );
    return { title, text, length: titleWeight * title.length + text.length };
  });
  const average = texts.reduce((sum, { length }) => sum + length, 0) / corpus.length;
  const occurrences = (words: string[], word: string) => words.filter((other) => other === word).length;
  const score = ({ title, text, length }: typeof texts[number]) => {
    let sum = 0;
    for (const word of repeatedQueryWords === "once" ? new Set(query) : query) {
      const df = texts.filter((other) => other.title.includes(word) || other.text.includes(word)).length;
      const tf = titleWeight * occurrences(title, word) + occurrences(text, word);
      if (tf > 0) {
        sum += Math.log(1 + (corpus.length - df + 0.5) / (df + 0.5)) * (k1 + 1) * tf /
          (tf + k1 * (1 - b + b * length / average));
      }
    }
    return sum;
  };
  return texts.map((text, i) => ({ i, score: score(text) })).filter((found) => found.score > 0)
    .sort((x, y) => Math.abs(x.score - y.score) > 1e-9 ? y.score - x.score : x.i - y.i);
}

describe("createBm25Index().searchOne() agrees with the textbook formula on random corpora", () => {
  const settings: Bm25Options[] = [
    {},
    { k1: 0.9, b: 0.4 },
    { b: 0, titleWeight: 2, repeatedQueryWords: "once" },
    { b: 1, titleWeight: 2.5 },
    { k1: 0 },
    { tokenizer: "whitespace", k1: 3 },
  ];
  for (const options of settings) {
    test(JSON.stringify(options), () => {
      for (let seed = 0; seed < 8; seed++) {
        const corpus = randomCorpus(seed, 1 + seed * 25);
        const index = createBm25Index(corpus, options);
        for (let i = 0; i < 12; i++) {
          const query = randomQuery(seed * 100 + i);
          const expected = oracle(corpus, query, options);
          for (const topK of [1, 3, 1000]) {
            const found = index.searchOne(query.join(" "), topK);
            expect(found.length).toBe(Math.min(topK, expected.length));
            found.forEach(({ score }, rank) => expect(score).toBeCloseTo(expected[rank].score, 5));
            // Impacts are rounded to Float32, so documents closer than that may change places.
            const isClear = expected.every(({ score }, rank) => {
              const gap = rank === 0 ? Infinity : expected[rank - 1].score - score;
              return gap > 1e-5 || gap < 1e-9;
            });
            if (isClear) {
              expect(found.map(({ document }) => document.id)).toEqual(expected.slice(0, topK).map(({ i }) => `d${i}`));
            }
          }
        }
      }
    });
  }
});

test("createBm25Index().searchOne() agrees with SQLite's FTS5 up to the idf", () => {
  const corpus = randomCorpus(99, 400, 60);
  const database = new DatabaseSync(":memory:");
  database.exec("create virtual table passages using fts5(contents)");
  const insert = database.prepare("insert into passages(rowid, contents) values (?, ?)");
  corpus.forEach(({ contents }, i) => insert.run(i, contents));
  const select = database.prepare(
    "select rowid as id, -bm25(passages) as score from passages where passages match ? order by rowid",
  );
  const index = createBm25Index(corpus, { k1: 1.2, b: 0.75 });
  for (const word of ["w12", "w25", "w40", "w55"]) {
    const theirs = select.all(word) as { id: number; score: number }[];
    const ours = index.searchOne(word, corpus.length).sort((a, b) =>
      Number(a.document.id.slice(1)) - Number(b.document.id.slice(1))
    );
    // FTS5 lacks Lucene's "1 +", which keeps the idf of common words positive.
    const odds = (corpus.length - theirs.length + 0.5) / (theirs.length + 0.5);
    expect(theirs.length).toBeGreaterThan(5);
    expect(odds).toBeGreaterThan(1);
    expect(ours.map(({ document }) => document.id)).toEqual(theirs.map(({ id }) => `d${id}`));
    ours.forEach(({ score }, i) => expect(score / Math.log(1 + odds)).toBeCloseTo(theirs[i].score / Math.log(odds), 6));
  }
  database.close();
});

test("createBm25Index().searchOne() puts the lower document index first on ties, whatever the order of the words", () => {
  // The micro world: "e r1 r2 r3" ties between the facts of e.
  const corpus = ["e1 r2 e5", "e0 r1 e3", "e1 r0 e2", "e1 r1 e4", "e0 r0 e6", "e2 r2 e0"].map((fact, i) => {
    const [subject, ...rest] = fact.split(" ");
    return { id: String(i), contents: `"${subject}"\n${rest.join(" ")}` };
  });
  const index = createBm25Index(corpus, { tokenizer: "whitespace", b: 0, titleWeight: 2, repeatedQueryWords: "once" });
  for (const query of ["e1 r0 r1 r2", "r2 r1 r0 e1", "r1 e1 r2 r0"]) {
    const found = index.searchOne(query, 3);
    expect(found.map(({ document }) => document.id)).toEqual(["0", "2", "3"]);
    expect(new Set(found.map(({ score }) => score)).size).toBe(1);
  }
  expect(index.searchOne("e1 r1", 1)[0].document.id).toBe("3");
});

test("createBm25Index().searchOne() gives bit-equal results for every order of the words", () => {
  const index = createBm25Index(randomCorpus(5, 300));
  for (let i = 0; i < 30; i++) {
    const query = randomQuery(i);
    expect(index.searchOne(query.toReversed().join(" "), 20)).toEqual(index.searchOne(query.join(" "), 20));
    expect(index.searchOne(query.toSorted().join(" "), 20)).toEqual(index.searchOne(query.join(" "), 20));
  }
});

test("createBm25Index().searchOne() counts a repeated query word each time, or once", () => {
  const corpus = [{ id: "a", contents: '"x"\ncat dog' }, { id: "b", contents: '"y"\ncow dog' }];
  const score = (repeatedQueryWords: "each" | "once", query: string) =>
    createBm25Index(corpus, { repeatedQueryWords }).searchOne(query, 1)[0].score;
  expect(score("each", "cat cat")).toBe(2 * score("each", "cat"));
  expect(score("once", "cat cat")).toBe(score("once", "cat"));
});

test("createBm25Index().searchOne() finds nothing for an empty query, unknown words or stop words alone", () => {
  const corpus = [{ id: "a", contents: '"The Cat"\nThe cat is here' }];
  const index = createBm25Index(corpus, { stopWords: "english" });
  expect(index.searchOne("cat", 3)).toHaveLength(1);
  for (const query of ["", "  \n", "?!", "zebra", "the is"]) expect(index.searchOne(query, 3)).toEqual([]);
  expect(createBm25Index(corpus).searchOne("the is", 3)).toHaveLength(1);
});

test("createBm25Index() leaves stop words out of the documents' lengths", () => {
  const corpus = [{ id: "long", contents: '"a"\nthe of and to cat' }, { id: "short", contents: '"b"\ncat' }];
  const [first, second] = createBm25Index(corpus, { stopWords: "english", tokenizer: "lucene-like" }).searchOne(
    "cat",
    2,
  );
  // "a" is a stop word too, so "long" is the document with the fewer words.
  expect([first.document.id, second.document.id]).toEqual(["long", "short"]);
  expect(createBm25Index(corpus).searchOne("cat", 1)[0].document.id).toBe("short");
});

test("createBm25Index().searchOne() compares words of any script without regard to case", () => {
  const texts = ["ÉCOLE normale", "Москва столица", "Ελλάδα", "東京都", "naïve Bayes"];
  const index = createBm25Index(texts.map((text, i) => ({ id: String(i), contents: `"t${i}"\n${text}` })));
  const best = (query: string) => index.searchOne(query, 1)[0]?.document.id;
  expect(["école", "МОСКВА", "ελλάδα", "京", "NAÏVE"].map(best)).toEqual(["0", "1", "2", "3", "4"]);
  expect(best("naive")).toBeUndefined();
});

test("createBm25Index().searchOne() reads a query of more than maxQueryWords words up to there", () => {
  const corpus = [{ id: "a", contents: '"x"\ncat' }, { id: "b", contents: '"y"\ndog' }];
  const index = createBm25Index(corpus, { maxQueryWords: 3 });
  expect(index.searchOne("cat cat cat dog", 5).map(({ document }) => document.id)).toEqual(["a"]);
  expect(createBm25Index(corpus).searchOne(`cat ${"cow ".repeat(300)}dog`, 5)).toHaveLength(1);
});

test("createBm25Index().search() answers each query as searchOne() does", async () => {
  const index = createBm25Index(randomCorpus(3, 50));
  const queries = ["w1 w2", "nothing", "w4"];
  expect(await index.search(queries, 2)).toEqual(queries.map((query) => index.searchOne(query, 2)));
  expect(await index.search([], 2)).toEqual([]);
  await expect(index.search(["w1"], 0)).rejects.toThrow("topK must be a whole number of at least 1");
});

test("createBm25Index() takes a tokenizer of the caller's and records its name", () => {
  const letters = { name: "letters", tokenize: (text: string) => [...text] };
  const index = createBm25Index([{ id: "a", contents: "abc" }, { id: "b", contents: "xyz" }], { tokenizer: letters });
  expect(index.searchOne("z", 3).map(({ document }) => document.id)).toEqual(["b"]);
  expect(index.protocol.tokenizer).toBe("letters");
});

test("createBm25Index().protocol names everything that decides a result", () => {
  const corpus = [{ id: "0", contents: '"T"\nx' }];
  const { protocol } = createBm25Index(corpus, { k1: 0.9, b: 0.4, stopWords: "english", titleWeight: 2 });
  expect(JSON.parse(JSON.stringify(protocol))).toEqual({
    method: "bm25",
    tokenizer: "lucene-like",
    stopWords: "english",
    k1: 0.9,
    b: 0.4,
    titleWeight: 2,
    repeatedQueryWords: "each",
    maxQueryWords: 256,
    tieOrder: "lower document index first",
    // printf '["0","\\"T\\"\\nx"]\n' | sha256sum
    corpusHash: "fcc507baca2e4260efc051cc2b9619a40fbb976831ffb4bd1de898ee69323384",
    documents: 1,
  });
  expect(createBm25Index([{ id: "0", contents: '"T"\ny' }]).protocol.corpusHash).not.toBe(protocol.corpusHash);
});

test("createBm25Index() refuses options out of range, an empty corpus and repeated ids", () => {
  const corpus = [{ id: "a", contents: "x" }];
  expect(() => createBm25Index(corpus, { k1: -1 })).toThrow("k1 = -1: it must be a number of at least 0");
  expect(() => createBm25Index(corpus, { b: 1.5 })).toThrow(RangeError);
  expect(() => createBm25Index(corpus, { b: NaN })).toThrow(RangeError);
  expect(() => createBm25Index(corpus, { titleWeight: 0 })).toThrow(RangeError);
  expect(() => createBm25Index(corpus, { maxQueryWords: 0.5 })).toThrow(RangeError);
  expect(() => createBm25Index(corpus, { tokenizer: "porter" as "whitespace" })).toThrow(
    "one of lucene-like, whitespace",
  );
  expect(() => createBm25Index(corpus, { stopWords: "german" as "none" })).toThrow("one of none, english");
  expect(() => createBm25Index([])).toThrow("empty corpus");
  expect(() => createBm25Index([...corpus, ...corpus])).toThrow('the id "a" occurs twice');
});

test("createBm25Index() accepts documents without words", () => {
  const index = createBm25Index([{ id: "a", contents: "" }, { id: "b", contents: '"…"\n!' }]);
  expect(index.searchOne("a", 3)).toEqual([]);
});
