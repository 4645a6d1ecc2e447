import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { COEVO_VERSION, collectEnvironment } from "../../lib/record/provenance.ts";
import { runEnvironment } from "../../lib/record/schema.ts";
import { temporaryFolder } from "./temporary_folder.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function git(root: string, ...args: string[]): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
  const identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
  return execFileSync("git", [...identity, ...args], { cwd: root, env, encoding: "utf8" }).trim();
}

/** A repository with one commit; returns its root and the commit that git prints. */
function repository(): { root: string; commit: string } {
  const root = temporaryFolder();
  mkdirSync(join(root, "lib"));
  for (const [path, text] of Object.entries({ "deno.json": "{}", "deno.lock": "locked", "lib/a.ts": "export {};\n" })) {
    writeFileSync(join(root, path), text);
  }
  git(root, "init", "--quiet");
  git(root, "add", ".");
  git(root, "commit", "--quiet", "--message", "first");
  return { root, commit: git(root, "rev-parse", "HEAD") };
}

const collect = (root: string) => collectEnvironment({ command: "deno task reproduce toy", root });

test("collectEnvironment() gives the commit of a clean checkout and no difference", async () => {
  const { root, commit } = repository();
  const { environment, codeDiff } = await collect(root);
  expect(environment).toMatchObject({
    commit,
    diffHash: null,
    command: "deno task reproduce toy",
    coevo: COEVO_VERSION,
  });
  expect(codeDiff).toBeNull();
  expect(environment.versions).toEqual({ ...Deno.version, lock: sha256("locked") });
});

test("collectEnvironment() keeps an uncommitted change as a difference that git can apply", async () => {
  const { root, commit } = repository();
  writeFileSync(join(root, "lib/a.ts"), "export const changed = 1;\n");
  const { environment, codeDiff } = await collect(root);
  expect(environment).toMatchObject({ commit, diffHash: sha256(codeDiff ?? "") });
  git(root, "checkout", "--quiet", "--", ".");
  writeFileSync(join(root, "code.diff"), codeDiff ?? "");
  git(root, "apply", "code.diff");
  expect(readFileSync(join(root, "lib/a.ts"), "utf8")).toBe("export const changed = 1;\n");
});

test("collectEnvironment() counts untracked code by name and content, and no other untracked file", async () => {
  const { root } = repository();
  writeFileSync(join(root, "notes.txt"), "mine");
  expect((await collect(root)).codeDiff).toBeNull();
  writeFileSync(join(root, "lib/ü b.ts"), "new");
  const first = await collect(root);
  expect(first.codeDiff).toBe(`untracked "lib/ü b.ts" sha256 ${sha256("new")}\n`);
  writeFileSync(join(root, "lib/ü b.ts"), "newer");
  expect((await collect(root)).environment.diffHash).not.toBe(first.environment.diffHash);
});

test("collectEnvironment() does not call a staged change clean", async () => {
  const { root } = repository();
  writeFileSync(join(root, "lib/a.ts"), "");
  git(root, "add", ".");
  expect((await collect(root)).codeDiff).toContain("-export {};");
});

test.each<[string, () => string]>([
  ["outside git", temporaryFolder],
  ["in a repository without a commit", () => {
    const root = temporaryFolder();
    writeFileSync(join(root, "deno.json"), "{}");
    git(root, "init", "--quiet");
    return root;
  }],
  ["for a copy inside somebody else's repository", () => {
    const inner = join(repository().root, "vendor");
    mkdirSync(inner);
    writeFileSync(join(inner, "deno.json"), "{}");
    return inner;
  }],
  ["for a folder that does not exist", () => join(temporaryFolder(), "none")],
])("collectEnvironment() calls the commit unresolved %s", async (_, rootOf) => {
  const { environment, codeDiff } = await collect(rootOf());
  expect(environment).toMatchObject({ commit: "unresolved", diffHash: null });
  expect(codeDiff).toBeNull();
});

test("collectEnvironment() is not led astray by the environment of a git hook", async () => {
  const { root, commit } = repository();
  const before = process.env.GIT_DIR;
  process.env.GIT_DIR = join(repository().root, ".git");
  try {
    expect((await collect(root)).environment.commit).toBe(commit);
  } finally {
    if (before === undefined) delete process.env.GIT_DIR;
    else process.env.GIT_DIR = before;
  }
});

test("collectEnvironment() describes this machine in the schema's terms", async () => {
  const { environment } = await collect(temporaryFolder());
  expect(runEnvironment.parse(environment)).toEqual(environment);
  const { hardware, versions, startedAt } = environment;
  expect(hardware.cores).toBeGreaterThan(0);
  expect(hardware.memoryGiB).toBeGreaterThan(0);
  expect(hardware.os).toContain(Deno.build.os);
  expect(versions.lock).toBe("unresolved");
  expect(new Date(startedAt).toISOString()).toBe(startedAt);
});

test("COEVO_VERSION is that of deno.json", () => {
  expect(COEVO_VERSION).toBe(JSON.parse(readFileSync("deno.json", "utf8")).version);
});
