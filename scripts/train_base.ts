/**
 * `deno task train-base [--write]`: trains the shipped base policy of the micro world again from nothing, compares it
 * with data/micro, and measures what it can do. Exit 1 if its bytes differ, or it cannot do what the micro world needs.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { OutputStream } from "../lib/recipe/command_io.ts";
import { parseArguments, UsageError } from "../lib/recipe/command_line.ts";
import { EXIT } from "../lib/recipe/exit_code.ts";
import { runScript } from "../lib/recipe/run_script.ts";
import {
  basePolicyHash,
  missingShippedWeights,
  SHIPPED_WEIGHTS,
  trainBasePolicy,
  weightsOf,
} from "../recipes/inspo/base_policy.ts";
import { type Capability, measureCapability, missingCapabilities } from "../recipes/inspo/capability.ts";
import { WARM_START } from "../recipes/inspo/micro_settings.ts";

const FLAGS = { write: { help: "write weights and description to data/micro in place of comparing" } };

await runScript(async (args, { stdout }) => {
  const { flags, words } = parseArguments(args, FLAGS);
  if (words.length > 0) throw new UsageError("usage: deno task train-base [--write]");
  if (flags.write !== true && !existsSync(SHIPPED_WEIGHTS)) throw new UsageError(missingShippedWeights());
  const { bytes, hash, capability } = await train(stdout);
  const missing = missingCapabilities(capability);
  for (const line of missing) stdout.write(`missing: ${line}\n`);
  if (flags.write === true) {
    await writeFile(SHIPPED_WEIGHTS, bytes);
    const description = { sha256: hash, bytes: bytes.length, warmStart: WARM_START, capability };
    await writeFile(SHIPPED_WEIGHTS.replace(/safetensors$/, "json"), `${JSON.stringify(description, null, 2)}\n`);
    return missing.length === 0 ? EXIT.done : EXIT.failed;
  }
  const shipped = await basePolicyHash(WARM_START);
  const differs = shipped !== hash;
  stdout.write(
    differs
      ? `data/micro holds other weights (${shipped}): another machine may round differently; the capabilities decide\n`
      : "equal to data/micro, byte for byte\n",
  );
  return differs || missing.length > 0 ? EXIT.failed : EXIT.done;
});

/** Trains a base policy and says what it can do. */
async function train(
  { write }: OutputStream,
): Promise<{ bytes: Uint8Array; hash: string; capability: readonly Capability[] }> {
  const started = performance.now();
  const engine = await trainBasePolicy(WARM_START, (step, loss) => {
    if (step % 200 === 0 || step === WARM_START.steps - 1) write(`step ${step}: loss ${loss.toFixed(4)}\n`);
  });
  const bytes = await weightsOf(engine);
  const hash = createHash("sha256").update(bytes).digest("hex");
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  write(`trained in ${seconds} s, ${bytes.length} bytes, sha256 ${hash}\n`);
  const capability = await measureCapability(engine);
  for (const { instruction, sampled, greedy } of capability) {
    write(`${JSON.stringify(instruction)}: EM ${sampled.toFixed(3)} at T = 1, ${greedy.toFixed(3)} greedy\n`);
  }
  return { bytes, hash, capability };
}
