import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // Under Deno only the "forks" pool works; "threads" fails with a missing parentPort.removeAllListeners.
    pool: "forks",
    // vitest leaves one core free by default; half of the time is spent in child processes and waiting.
    maxWorkers: availableParallelism(),
    include: ["test/**/*.test.ts"],
    reporters: ["default", "./test/reporter.ts"],
    testTimeout: 30_000,
  },
});
