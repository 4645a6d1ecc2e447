import { readFileSync } from "node:fs";
import type { Kernels } from "./kernels.ts";

let compiled: WebAssembly.Module | undefined;

/** The kernels as compiled 128-bit SIMD code with a memory of their own, small until it is grown. */
export function loadWasmKernels(): Kernels {
  compiled ??= new WebAssembly.Module(readFileSync(new URL("./kernels/kernels.wasm", import.meta.url)));
  const { exports } = new WebAssembly.Instance(compiled, { env: { abort: refuse } });
  const { heapBase, ...functions } = exports as unknown as Kernels & { heapBase: WebAssembly.Global };
  return { ...functions, heapBase: heapBase.value as number };
}

function refuse(): never {
  throw new Error("A kernel of the embedded engine stopped: its compiled code is damaged");
}
