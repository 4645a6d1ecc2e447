import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UsageError } from "../../lib/recipe/command_line.ts";
import { createPolicyEngine, ensureBasePolicy, SHIPPED_WEIGHTS } from "../../recipes/inspo/base_policy.ts";
import { measureCapability, missingCapabilities } from "../../recipes/inspo/capability.ts";
import { WARM_START } from "../../recipes/inspo/micro_settings.ts";

const description = JSON.parse(readFileSync(SHIPPED_WEIGHTS.replace(/safetensors$/, "json"), "utf8"));

test("the shipped base policy is the described file, made with the settings of the recipe, below half a megabyte", () => {
  const bytes = readFileSync(SHIPPED_WEIGHTS);
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(description.sha256);
  expect(description.warmStart).toEqual(WARM_START);
  expect(statSync(SHIPPED_WEIGHTS).size).toBeLessThan(500_000);
});

test("the shipped base policy can do what the micro world needs, as described", async () => {
  const engine = createPolicyEngine(1);
  await engine.loadWeights(SHIPPED_WEIGHTS);
  const capability = await measureCapability(engine);
  expect(missingCapabilities(capability)).toEqual([]);
  for (const [index, { sampled, greedy }] of capability.entries()) {
    // Another processor may round exp and log differently; a few of 200 answers may then differ.
    expect(sampled).toBeCloseTo(description.capability[index].sampled, 1);
    expect(greedy).toBeCloseTo(description.capability[index].greedy, 1);
  }
}, 60_000);

test("missingCapabilities() notices a policy that cannot chain, and one that needs no instruction", async () => {
  const engine = createPolicyEngine(1);
  const untrained = await measureCapability(engine);
  expect(missingCapabilities(untrained).length).toBeGreaterThanOrEqual(2);
  const tooGood = untrained.map((each) => ({ ...each, sampled: 1, greedy: 1, greedyThreeHops: 1 }));
  expect(missingCapabilities(tooGood)).toEqual(["the seed instruction must leave room: at most 35 % sampled"]);
}, 60_000);

test("ensureBasePolicy() neither trains nor writes shipped weights that are missing, and names both remedies", async () => {
  const root = mkdtempSync(join(tmpdir(), "coevo-"));
  try {
    const ensured = ensureBasePolicy(WARM_START, () => expect.unreachable(), root);
    await expect(ensured).rejects.toThrow(UsageError);
    await expect(ensured).rejects.toThrow(/`git checkout data\/micro` .* `deno task train-base --write`/);
    expect(readdirSync(root)).toEqual([]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("ensureBasePolicy() trains a base policy with other settings into the cache, once", async () => {
  const root = mkdtempSync(join(tmpdir(), "coevo-"));
  try {
    const settings = { ...WARM_START, steps: 2, batch: 2 };
    const lines: string[] = [];
    await ensureBasePolicy(settings, (line) => lines.push(line), root);
    await ensureBasePolicy(settings, (line) => lines.push(line), root);
    expect(lines).toHaveLength(1);
    expect(readdirSync(root)).toEqual([".cache"]);
    expect(readdirSync(join(root, ".cache/micro"))).toEqual([
      expect.stringMatching(/^hop_search-[0-9a-f]{16}\.safetensors$/),
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
