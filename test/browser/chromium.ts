import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** The colour scheme that a page is asked for. */
export type Scheme = "light" | "dark";

/** COEVO_CHROMIUM, or the first Chromium in PATH; null if there is none. */
export function findChromium(): string | null {
  const candidates = [process.env.COEVO_CHROMIUM ?? "", "chromium", "google-chrome"].filter((name) => name !== "");
  return candidates.find((name) => spawnSync(name, ["--version"]).status === 0) ?? null;
}

/** The document as it stands after loading, scripts run. */
export function dumpDom(chromium: string, url: string): Promise<string> {
  return runChromium(chromium, ["--dump-dom", url]);
}

/** A picture of a page, as PNG. */
export async function screenshot(
  chromium: string,
  url: string,
  size: { width: number; height: number },
  scheme: Scheme,
): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "coevo-screenshot-"));
  try {
    const path = join(folder, "page.png");
    await runChromium(chromium, [
      `--window-size=${size.width},${size.height}`,
      `--blink-settings=preferredColorScheme=${scheme === "dark" ? 0 : 1}`,
      "--hide-scrollbars",
      `--screenshot=${path}`,
      url,
    ]);
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runChromium(chromium: string, args: readonly string[]): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), "coevo-chromium-"));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"];
  const offline = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn(chromium, [...flags, ...offline, `--user-data-dir=${profile}`, ...args], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      const output: string[] = [];
      const errors: string[] = [];
      child.stdout.setEncoding("utf8").on("data", (text: string) => output.push(text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => errors.push(text));
      child.on("error", reject);
      child.on("close", (code) => {
        if (code === 0) resolve(output.join(""));
        else reject(new Error(`${chromium} ended with ${code}: ${errors.join("").slice(-2000)}`));
      });
    });
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
