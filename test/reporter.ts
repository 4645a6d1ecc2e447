import process from "node:process";
import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with the plain line that CI counts by, with the skips and their reasons on the lines before it. */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    let passed = 0;
    let failed = errors.length;
    const skipped = new Map<string, number>();
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      if (module.state() === "failed" && tests.length === 0) failed++;
      for (const test of tests) {
        const result = test.result();
        if (result.state === "passed") passed++;
        else if (result.state === "failed") failed++;
        else {
          const reason = (result.state === "skipped" && result.note) || reasonInTitle(test.fullName);
          skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
        }
      }
    }
    for (const [reason, count] of skipped) process.stdout.write(`${count} skipped: ${reason}\n`);
    process.stdout.write(`${passed} passed, ${failed} failed\n`);
  }
}

/** Tests that need something absent are titled "… [needs X]". */
function reasonInTitle(title: string): string {
  return title.match(/\[(needs [^\]]+)\]/)?.[1] ?? "no reason given";
}
