import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { hopSearchTokenizer } from "../../lib/environment/hop_search/tokenizer.ts";
import { warmStart, type WarmStartSettings } from "../../lib/environment/hop_search/warm_start.ts";
import { createMicroEngine, type MicroEngine } from "../../lib/engine/micro/micro_engine.ts";
import { hashConfig } from "../../lib/record/canonical_json.ts";
import { MICRO_MODEL, WARM_START } from "./micro_settings.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The shipped base policy, and what is known about it. */
export const SHIPPED_WEIGHTS: string = join(ROOT, "data/micro/hop_search.safetensors");

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

/** File of the base policy with these settings: the shipped one, or one that is trained once into the cache. */
export function basePolicyFile(settings: WarmStartSettings): string {
  if (fingerprint(settings) === fingerprint(WARM_START)) return SHIPPED_WEIGHTS;
  return join(cacheDirectory(), `hop_search-${fingerprint(settings)}.safetensors`);
}

/** Trains the base policy if its file is not there. */
export async function ensureBasePolicy(settings: WarmStartSettings, report: (line: string) => void): Promise<void> {
  const file = basePolicyFile(settings);
  if (existsSync(file)) return;
  report(`Training a base policy with chain prior ${settings.prior.chain} (about a minute, once) …`);
  const engine = await trainBasePolicy(settings);
  await mkdir(cacheDirectory(), { recursive: true });
  await writeFile(`${file}.${process.pid}`, await weightsOf(engine));
  await rename(`${file}.${process.pid}`, file);
  await engine.close();
}

/** SHA-256 of a base policy's file. @throws {Error} if it is not there */
export async function basePolicyHash(settings: WarmStartSettings): Promise<string> {
  return createHash("sha256").update(await readFile(basePolicyFile(settings))).digest("hex");
}

/** Everything that decides the weights. */
export function fingerprint(settings: WarmStartSettings): string {
  return hashConfig({ model: MICRO_MODEL, settings }).slice(0, 16);
}

function cacheDirectory(): string {
  return join(ROOT, ".cache/micro");
}
