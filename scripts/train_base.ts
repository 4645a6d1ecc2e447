/**
 * `deno task train-base [--write]`: trains the shipped base policy of the micro world again from nothing, compares it
 * with data/micro, and measures what it can do. Exit 1 if its bytes differ, or it cannot do what the micro world needs.
 */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { basePolicyHash, SHIPPED_WEIGHTS, trainBasePolicy, weightsOf } from "../recipes/inspo/base_policy.ts";
import { measureCapability, missingCapabilities } from "../recipes/inspo/capability.ts";
import { WARM_START } from "../recipes/inspo/micro_settings.ts";

const isWriting = Deno.args.includes("--write");
const started = performance.now();
const engine = await trainBasePolicy(WARM_START, (step, loss) => {
  if (step % 200 === 0 || step === WARM_START.steps - 1) {
    process.stdout.write(`step ${step}: loss ${loss.toFixed(4)}\n`);
  }
});
const bytes = await weightsOf(engine);
const hash = createHash("sha256").update(bytes).digest("hex");
process.stdout.write(
  `trained in ${((performance.now() - started) / 1000).toFixed(1)} s, ${bytes.length} bytes, sha256 ${hash}\n`,
);

const capability = await measureCapability(engine);
for (const { instruction, sampled, greedy } of capability) {
  process.stdout.write(
    `${JSON.stringify(instruction)}: EM ${sampled.toFixed(3)} at T = 1, ${greedy.toFixed(3)} greedy\n`,
  );
}
const missing = missingCapabilities(capability);
for (const line of missing) process.stdout.write(`missing: ${line}\n`);

if (isWriting) {
  await writeFile(SHIPPED_WEIGHTS, bytes);
  const description = { sha256: hash, bytes: bytes.length, warmStart: WARM_START, capability };
  await writeFile(SHIPPED_WEIGHTS.replace(/safetensors$/, "json"), `${JSON.stringify(description, null, 2)}\n`);
  process.exit(missing.length === 0 ? 0 : 1);
}
const shipped = await basePolicyHash(WARM_START);
const differs = shipped !== hash;
process.stdout.write(
  differs
    ? `data/micro holds other weights (${shipped}): another machine may round differently; the capabilities decide\n`
    : "equal to data/micro, byte for byte\n",
);
process.exit(differs || missing.length > 0 ? 1 : 0);
