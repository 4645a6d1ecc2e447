import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Cell, type Overrides, type RunOptions, settingsOf } from "../../lib/recipe/recipe.ts";
import { API_SCALE } from "../../recipes/inspo/api.ts";
import type { ApiSettings } from "../../recipes/inspo/api_settings.ts";
import { testWithShared } from "../shared.ts";
import { writeData } from "../reproduce/search_model.ts";

beforeEach(() => {
  for (const name of ["OPENAI_API_KEY", "OPENAI_BASE_URL", "COEVO_REFLECTOR_MODEL"]) vi.stubEnv(name, "");
});
afterEach(() => vi.unstubAllEnvs());

const HOTPOT = ["data/qa/hotpot500_questions.jsonl", "data/qa/hotpot500_corpus.jsonl"];

function dataFolder(): string {
  return writeData(join(mkdtempSync(join(tmpdir(), "coevo-")), "data"));
}

async function cellOf(arm: string, overrides: Overrides, options: RunOptions, seed = 1): Promise<Cell> {
  return { recipe: "inspo", scale: "api", arm, seed, ...await API_SCALE.resolve(arm, seed, overrides, options) };
}

const apiSettings = settingsOf<ApiSettings>;

testWithShared(
  "API_SCALE's default cells are the committed panel, the paper's 200 samples and one evaluation of the static arm",
  HOTPOT,
  async () => {
    const fixed = await cellOf("static-instruction", { model: "m" }, {});
    const evolving = await cellOf("inspo-no-rl", { model: "m" }, {});
    expect(apiSettings(fixed)).toMatchObject({ budget: 0, inspo: null, reflector: null });
    expect(apiSettings(evolving)).toMatchObject({
      budget: 6000,
      panel: { name: "hotpotqa-500", train: 100, verification: 200, test: 200 },
      inspo: { populationSize: 7, verification: { samples: 200, temperature: 0 } },
      reflector: "openai:m",
      retriever: { k1: 0.9, b: 0.4 },
    });
    expect(evolving.variant).toEqual({ model: "m" });

    const lines = API_SCALE.estimate?.([fixed, evolving], { price: [0.15, 0.6] }) ?? [];
    // 6,000 rollouts, and 200 test questions at 0, 2,000, 4,000 and 6,000.
    expect(lines.slice(0, 2)).toEqual([
      "calls    static-instruction: about 600, at most 1,000, for 200 trajectories",
      "         inspo-no-rl: about 20,405, at most 34,010, for 6,800 trajectories and 5 reflections",
    ]);
    expect(lines).toContainEqual(
      expect.stringMatching(/^cost +about \$3\.37, at most \$22\.05, with --price 0.15,0.6$/),
    );
  },
);

test("API_SCALE counts the calls of every seed in the estimate's cost, and shows them by cell", async () => {
  const dataDir = dataFolder();
  const cells = await Promise.all(
    [1, 2].map((seed) => cellOf("static-instruction", { model: "m" }, { dataDir }, seed)),
  );
  const lines = (of: Cell[]) => API_SCALE.estimate?.(of, { price: [0, 1e6 / 100] }) ?? [];
  expect(lines(cells)[0]).toContain("about 48, at most 80, for 16 trajectories, for each of 2 seeds");
  // 48 calls of 100 tokens at a cent each.
  expect(lines(cells.slice(1)).join()).toContain("about $48.00");
  expect(lines(cells).join()).toContain("about $96.00");
  expect(lines([])).toEqual([]);
});

test("API_SCALE verifies on as many questions as there are", async () => {
  const cell = await cellOf("inspo-no-rl", { model: "m", rollouts: 100 }, { dataDir: dataFolder() });
  expect(apiSettings(cell)).toMatchObject({
    panel: { name: "custom", train: 8, verification: 16, test: 16 },
    inspo: { verification: { samples: 16 } },
  });
});

test("API_SCALE names model, data, budget and another reflector in the folder, and the corpus in the settings", async () => {
  const [dataDir, other] = [dataFolder(), dataFolder()];
  const cell = await cellOf("inspo-no-rl", { model: "m", rollouts: 100 }, { dataDir });
  expect(cell.variant).toEqual({ model: "m", rollouts: 100, data: apiSettings(cell).panel.hash.slice(0, 8) });
  writeFileSync(join(other, "corpus.jsonl"), `${JSON.stringify({ id: "1", contents: '"T"\ntext' })}\n`);
  const changed = await cellOf("inspo-no-rl", { model: "m", rollouts: 100 }, { dataDir: other });
  expect(changed.variant).toEqual(cell.variant);
  expect(apiSettings(changed).retriever).not.toEqual(apiSettings(cell).retriever);

  vi.stubEnv("COEVO_REFLECTOR_MODEL", "writer");
  const reflecting = await cellOf("inspo-no-rl", { model: "m", rollouts: 100 }, { dataDir });
  expect(reflecting.variant).toEqual({ ...cell.variant, reflector: "openai:writer" });
  const fixed = await cellOf("static-instruction", { model: "m", rollouts: 100 }, { dataDir });
  expect(fixed.variant).toEqual({ model: "m", data: cell.variant.data });
});

test("API_SCALE names what is missing, each in one sentence", async () => {
  vi.stubEnv("COEVO_SHARED", join(tmpdir(), "there-is-no-such-folder"));
  const unmet = async (options: RunOptions, overrides: Overrides) =>
    (await API_SCALE.prerequisites(options, overrides)).filter(({ isMet }) => !isMet).map(({ remedy }) => remedy);
  expect(await unmet({}, {})).toEqual([
    expect.stringMatching(/^scale api needs real questions.*--data DIR.*COEVO_SHARED$/),
    expect.stringMatching(/^scale api needs --model NAME/),
    expect.stringMatching(/OPENAI_API_KEY, or OPENAI_BASE_URL/),
  ]);
  process.env.OPENAI_BASE_URL = "http://127.0.0.1:1/v1";
  expect(await unmet({ dataDir: dataFolder() }, { model: "m" })).toEqual([]);
  process.env.OPENAI_BASE_URL = "127.0.0.1:1";
  expect(await unmet({ dataDir: dataFolder() }, { model: "m" })).toEqual([
    expect.stringMatching(/not an HTTP address/),
  ]);
});
