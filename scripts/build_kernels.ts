// deno-lint-ignore-file no-console
/**
 * Compiles the embedded engine's kernels: `deno run -A scripts/build_kernels.ts`.
 *
 * With `--check` it only compares: exit code 1 if the committed file is not what the source gives.
 */
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// Its compiler back end is a download of 100 MB that only whoever changes the kernels needs: not a dependency.
const COMPILER = "npm:assemblyscript@0.28.20/asc";
const FLAGS = ["--enable", "simd", "--runtime", "stub", "--noAssert", "-O3", "--converge", "--initialMemory", "1"];

const source = fileURLToPath(new URL("../lib/engine/micro/kernels/kernels.as", import.meta.url));
const target = fileURLToPath(new URL("../lib/engine/micro/kernels/kernels.wasm", import.meta.url));

const built = await compile(source);
const committed = await readFile(target).catch(() => null);
const isCurrent = committed !== null && committed.equals(built);
if (isCurrent) {
  console.log(`${target} is what the source gives (${built.length} bytes)`);
} else if (Deno.args.includes("--check")) {
  console.error(`${target} is not what the source gives: run "deno run -A scripts/build_kernels.ts"`);
  Deno.exit(1);
} else {
  await writeFile(target, built);
  console.log(`Wrote ${target} (${built.length} bytes)`);
}

async function compile(path: string): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "kernels-"));
  try {
    // The compiler accepts files named .ts only, and the type checker must not see ours as one.
    await copyFile(path, join(folder, "kernels.ts"));
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-lock",
        "--node-modules-dir=none",
        COMPILER,
        "kernels.ts",
        "-o",
        "kernels.wasm",
        ...FLAGS,
      ],
      cwd: folder,
      stdout: "inherit",
      stderr: "inherit",
    }).output();
    if (!success) throw new Error(`Cannot compile ${path}: the compiler reported the errors above`);
    return await readFile(join(folder, "kernels.wasm"));
  } finally {
    await rm(folder, { recursive: true });
  }
}
