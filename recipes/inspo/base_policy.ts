import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Engine } from "../../lib/engine/engine.ts";
import { createMicroEngine, type MicroEngine } from "../../lib/engine/micro/micro_engine.ts";
import { enginePolicy } from "../../lib/environment/engine_policy.ts";
import { hopSearchTokenizer } from "../../lib/environment/hop_search/tokenizer.ts";
import { warmStart, type WarmStartSettings } from "../../lib/environment/hop_search/warm_start.ts";
import type { Policy } from "../../lib/environment/policy.ts";
import type { SearchQaProtocol } from "../../lib/environment/search_qa/protocol.ts";
import { UsageError } from "../../lib/recipe/command_line.ts";
import { hashConfig } from "../../lib/record/canonical_json.ts";
import { MICRO_MODEL, WARM_START } from "./micro_settings.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SHIPPED = "data/micro/hop_search.safetensors";
const CACHE = ".cache/micro";

/** The shipped base policy; the .json beside it says how it was made and what it can do. */
export const SHIPPED_WEIGHTS: string = join(ROOT, SHIPPED);

/** KV slots: a whole evaluation of 200 questions is sampled at once. */
const PARALLEL = 200;

/** A micro engine with fresh weights. */
export function createPolicyEngine(seed: number): MicroEngine {
  return createMicroEngine({ ...MICRO_MODEL, tokenizer: hopSearchTokenizer, seed, slots: PARALLEL });
}

/** Trains a base policy from nothing. The same settings give the same bytes on the same machine. */
export async function trainBasePolicy(
  settings: WarmStartSettings,
  onStep?: (step: number, loss: number) => void,
): Promise<MicroEngine> {
  const engine = createPolicyEngine(settings.seed);
  await warmStart(engine, settings, onStep);
  return engine;
}

/** The policy of an engine's weights, which reads as much of its context as the protocol lets it. */
export function policyOf(engine: Engine, { maxContextTokens, longContext }: SearchQaProtocol): Policy {
  return enginePolicy(engine, { maxTokens: maxContextTokens, overflow: longContext });
}

/** An engine's weights as the content of a safetensors file. */
export async function weightsOf(engine: MicroEngine): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "coevo-"));
  try {
    await engine.save(folder);
    return await readFile(join(folder, "model.safetensors"));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** File of the base policy with these settings below `root`: the shipped one, or one that is trained once into the cache. */
export function basePolicyFile(settings: WarmStartSettings, root: string = ROOT): string {
  if (isShipped(settings)) return join(root, SHIPPED);
  return join(root, CACHE, `hop_search-${fingerprint(settings)}.safetensors`);
}

/**
 * Trains the base policy if its file is not there.
 *
 * @throws {UsageError} if it is the shipped one that is not there: weights trained here may differ from it in their last
 * bits, and every recorded run names its hash
 */
export async function ensureBasePolicy(
  settings: WarmStartSettings,
  report: (line: string) => void,
  root: string = ROOT,
): Promise<void> {
  const file = basePolicyFile(settings, root);
  if (existsSync(file)) return;
  if (isShipped(settings)) throw new UsageError(missingShippedWeights(file));
  report(`Training a base policy with chain prior ${settings.prior.chain} (about a minute, once) …`);
  const engine = await trainBasePolicy(settings);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.${process.pid}`, await weightsOf(engine));
  await rename(`${file}.${process.pid}`, file);
  await engine.close();
}

/** What to tell a user whose checkout lacks the shipped weights. */
export function missingShippedWeights(file: string = SHIPPED_WEIGHTS): string {
  return `The base policy that coevo ships is not there (${file}): \`git checkout data/micro\` brings it back, ` +
    "`deno task train-base --write` trains it again";
}

/** SHA-256 of a base policy's file. @throws {Error} if it is not there */
export async function basePolicyHash(settings: WarmStartSettings): Promise<string> {
  return createHash("sha256").update(await readFile(basePolicyFile(settings))).digest("hex");
}

/** Everything that decides the weights. */
export function fingerprint(settings: WarmStartSettings): string {
  return hashConfig({ model: MICRO_MODEL, settings }).slice(0, 16);
}

function isShipped(settings: WarmStartSettings): boolean {
  return fingerprint(settings) === fingerprint(WARM_START);
}
