import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createRetrieverClient } from "../../lib/retrieval/client.ts";

const folder = mkdtempSync(join(tmpdir(), "serve_retriever-"));
afterAll(() => rmSync(folder, { recursive: true }));

function start(...args: string[]): Deno.ChildProcess {
  const command = ["run", "-A", "scripts/serve_retriever.ts", ...args];
  return new Deno.Command(Deno.execPath(), { args: command, stdout: "piped", stderr: "piped" }).spawn();
}

test("serve_retriever.ts serves a corpus until it is told to stop", async () => {
  const corpus = join(folder, "corpus.jsonl");
  writeFileSync(
    corpus,
    '{"id": "0", "contents": "\\"Cat\\"\\nThe cat sat."}\n{"id": "1", "contents": "\\"Dog\\"\\nA dog."}\n',
  );
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

test("serve_retriever.ts exits with 2 on a wrong command line and 3 without its corpus", async () => {
  const cases: [string[], number, RegExp][] = [
    [[], 2, /--corpus is required/],
    [["--corpus", "x", "--port", "many"], 2, /--port /],
    [["--corpus", "x", "--frobnicate"], 2, /frobnicate/],
    [["--corpus", join(folder, "missing.jsonl")], 3, /^Cannot read the corpus .*missing\.jsonl/],
  ];
  const outputs = await Promise.all(cases.map(([args]) => start(...args).output()));
  cases.forEach(([args, code, message], i) => {
    expect({ args, code: outputs[i].code }).toEqual({ args, code });
    expect(new TextDecoder().decode(outputs[i].stderr)).toMatch(message);
  });
});
