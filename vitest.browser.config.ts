import { defineConfig } from "vitest/config";

/** Tests that need Chromium (COEVO_CHROMIUM, or `chromium` or `google-chrome` in PATH); without one they are skipped. */
export default defineConfig({
  test: {
    pool: "forks",
    include: ["test/browser/**/*.test.ts"],
    env: { COEVO_TEST_BROWSER: "1" },
    reporters: ["default", "./test/reporter.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
