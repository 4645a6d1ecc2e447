import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createRetrieverClient } from "../../lib/retrieval/client.ts";

const folder = mkdtempSync(join(tmpdir(), "serve_retriever-"));
afterAll(() => rmSync(folder, { recursive: true }));

const corpus = join(folder, "corpus.jsonl");
writeFileSync(
  corpus,
  '{"id": "0", "contents": "\\"Cat\\"\\nThe cat sat."}\n{"id": "1", "contents": "\\"Dog\\"\\nA dog."}\n',
);

function start(...args: string[]): Deno.ChildProcess {
  const command = ["run", "-A", "--quiet", "scripts/serve_retriever.ts", ...args];
  return new Deno.Command(Deno.execPath(), { args: command, stdout: "piped", stderr: "piped" }).spawn();
}

test("serve_retriever.ts serves a corpus until it is told to stop", async () => {
  const server = start("--corpus", corpus, "--port", "0", "--k1", "0.9", "--b", "0.4");
  const reader = server.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value: line } = await reader.read();
  const url = line!.match(/^Serving 2 documents at (http:\S+)\/retrieve\n$/)![1];

  const [[found]] = await createRetrieverClient({ url }).search(["cat"], 1);
  expect(found.document.id).toBe("0");
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ documents: 2, protocol: { k1: 0.9, b: 0.4 } });

  server.kill("SIGTERM");
  expect((await server.status).code).toBe(143);
  await reader.cancel();
  await server.stderr.cancel();
});

test("serve_retriever.ts exits with 2 on what the user has to mend, with 3 on what the system refuses, in one line", async () => {
  const broken = join(folder, "broken.jsonl");
  writeFileSync(broken, '{"id": "0", "contents": "a"}\n{"id": "1"}\n');
  const twice = join(folder, "twice.jsonl");
  writeFileSync(twice, '{"id": "0", "contents": "a"}\n{"id": "0", "contents": "b"}\n');
  const binary = join(folder, "binary.jsonl");
  writeFileSync(binary, new Uint8Array([0xff, 0xfe, 0x00]));
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const cases: [string[], number, RegExp][] = [
    [[], 2, /--corpus is required/],
    [["--corpus", "x", "--port", "many"], 2, /--port "many": needs a whole number from 0 to 65535/],
    [["--corpus", "x", "--b", "1.5"], 2, /--b "1.5": needs a number from 0 to 1/],
    [["--corpus", "x", "--stop-words", "german"], 2, /--stop-words "german": needs one of none, english/],
    [["--corpus", broken], 2, /^Cannot read the corpus .*broken\.jsonl", line 2: "contents"/],
    [["--corpus", twice], 2, /^Cannot index the corpus: the id "0" occurs twice/],
    [["--corpus", binary], 2, /^Cannot read the corpus .*binary\.jsonl/],
    [["--corpus", "x", "--frobnicate"], 2, /frobnicate/],
    [["--corpus", join(folder, "missing.jsonl")], 3, /^Cannot read the corpus .*missing\.jsonl/],
    [["--corpus", corpus, "--port", `${taken.addr.port}`], 3, /^Cannot serve the retriever on 127\.0\.0\.1, port \d+/],
  ];
  const outputs = await Promise.all(cases.map(([args]) => start(...args).output()));
  taken.close();
  cases.forEach(([args, code, message], i) => {
    const stderr = new TextDecoder().decode(outputs[i].stderr);
    expect({ args, code: outputs[i].code, lines: stderr.match(/\n/g)?.length }).toEqual({ args, code, lines: 1 });
    expect(stderr).toMatch(message);
  });
});
