import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chatServer, type PostedRequest, reply, type Step } from "../api/chat_server.ts";
import { type Ended, killTree, runScript, startScript, temporaryFolder, until } from "./processes.ts";

const RECIPE = ["inspo", "--arms", "inspo", "--seeds", "1"];
/** First population, 15 steps, one generation. */
const ROLLOUTS = ["--rollouts", "1900"];
const SLOW = 60_000;

/** Proposes words of the list in the request, one word that the policy does not know, and a text that is too long. */
function wordModel({ messages, seed }: PostedRequest): Step {
  const words = (/words of this list, separated by spaces: (.*)\./.exec(messages[1].content)?.[1] ?? "").split(", ");
  const pick = (n: number) => words[((seed ?? 0) + 7 * n) % words.length];
  const texts = [
    `${pick(0)} ${pick(1)}`,
    "abracadabra",
    words.slice(0, 9).join(" "),
    `search ${pick(2)}`,
    "decompose search",
  ];
  return reply(
    JSON.stringify({ candidates: texts.map((instruction, n) => ({ diagnosis: `fault ${n}`, instruction })) }),
  );
}

function reproduce(server: { baseUrl: string } | null, ...args: string[]): Promise<Ended> {
  return runScript("reproduce", [...RECIPE, ...ROLLOUTS, ...args], environment(server));
}

function environment(server: { baseUrl: string } | null): Record<string, string> {
  return { OPENAI_BASE_URL: server?.baseUrl ?? "", OPENAI_API_KEY: "", COEVO_REFLECTOR_MODEL: "reflecting-model" };
}

function journalOf(out: string): string[] {
  const [arm] = [...Deno.readDirSync(join(out, "inspo/micro"))].map(({ name }) => name).filter((name) =>
    name.startsWith("inspo@")
  );
  return readFileSync(join(out, "inspo/micro", arm, "seed-1/journal.jsonl"), "utf8").split("\n");
}

test("reproduce --reflector openai --record, replayed, gives the same journal but for the settings' hash", async () => {
  await using server = chatServer(wordModel);
  const folder = temporaryFolder();
  const [out, replay, recording] = ["out", "replay", "recording"].map((name) => join(folder, name));
  expect(await reproduce(server, "--out", out, "--reflector", "openai", "--record", recording)).toMatchObject({
    code: 0,
  });
  expect(server.requests.map(({ model }) => model)).toEqual(["reflecting-model", "reflecting-model"]);
  const was = journalOf(out);
  expect(was.filter((line) => line.includes('"candidate-refused"')).length).toBeGreaterThanOrEqual(4);
  expect(was.join("\n")).toContain('the policy does not know the word \\"abracadabra\\"');

  expect(await reproduce(null, "--out", replay, "--reflector", `replay:${recording}`)).toMatchObject({ code: 0 });
  const is = journalOf(replay);
  expect(is.slice(1)).toEqual(was.slice(1));
  const withoutHash = (line: string) => ({ ...JSON.parse(line), configHash: null });
  expect(withoutHash(is[0])).toEqual(withoutHash(was[0]));
  expect(is[0]).not.toBe(was[0]);
}, SLOW);

test(
  "reproduce --reflector replay:FILE fails with one line where the run asks something else than was recorded",
  async () => {
    await using server = chatServer(wordModel);
    const folder = temporaryFolder();
    const [out, recording] = ["out", "recording"].map((name) => join(folder, name));
    await reproduce(server, "--out", out, "--reflector", "openai", "--record", recording);
    const file = `${recording}.inspo.seed-1.jsonl`;
    const [first, second] = readFileSync(file, "utf8").split("\n");
    const replay = (name: string, lines: string[]) => {
      writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
      return reproduce(null, "--out", join(folder, name), "--reflector", `replay:${recording}`);
    };
    const other = first.replace(/"candidates":6,/, '"candidates":5,').replace(/"hash":"\w+"/, '"hash":"0"');
    expect(await replay("a", [other, second])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /failed: Cannot replay .*: the request differs from line 1 in candidates \(5 recorded, 6 asked\); replay with the settings/,
      ),
    });
    expect(await replay("b", [first])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/failed: Cannot replay .*: request 2 is behind its last line, 1; /),
    });
  },
  SLOW,
);

test("reproduce --record, killed before its first checkpoint, goes on with its recording", async () => {
  const folder = temporaryFolder();
  const [out, recording] = ["out", "recording"].map((name) => join(folder, name));
  const args = [...RECIPE, "--rollouts", "800", "--out", out, "--reflector", "openai", "--record", recording];
  await using server = chatServer(wordModel);
  const killed = startScript("reproduce", args, environment(server));
  await until("the first reflection is recorded", () => {
    try {
      return readFileSync(`${recording}.inspo.seed-1.jsonl`, "utf8").includes("\n");
    } catch {
      return false; // It is not there yet.
    }
  });
  killTree(killed.child);
  await killed.ended;
  expect(await runScript("reproduce", args, environment(server))).toMatchObject({ code: 0 });
  expect(server.requests.length).toBe(1);
  expect(readFileSync(`${recording}.inspo.seed-1.jsonl`, "utf8").trim().split("\n").length).toBe(1);
}, SLOW);

test("reproduce --reflector openai without key or address ends with one line", async () => {
  const ended = await reproduce(null, "--out", temporaryFolder(), "--reflector", "openai");
  expect(ended).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^Cannot call "reflecting-model": .*OPENAI_API_KEY.*\n$/),
  });
}, SLOW);
