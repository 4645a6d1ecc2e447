import process from "node:process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reportPage } from "../../lib/report/html_page.ts";
import { page } from "../report/fixture.ts";
import { dumpDom, findChromium, screenshot } from "./chromium.ts";
import { framingPage, type Measured, type PageServer, servePages } from "./page_server.ts";
import { colourCount, decodePng, meanLightness } from "./png.ts";

const chromium = findChromium();
const SCREENSHOTS = ".cache/screenshots";
const figures = page.figures.flatMap(({ wide, narrow }) => [wide, narrow]);
const WIDTHS = [400, 760, 1600];

// The page's policy forbids scripts; without it, only the escaping stands between hostile text and the browser.
const unprotected = reportPage(page).replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "");

// The main task runs without a browser; these tests are counted there as skipped.
const missing = process.env.COEVO_TEST_BROWSER !== "1"
  ? " [needs a browser: deno task test:browser]"
  : chromium === null
  ? " [needs Chromium]"
  : "";

describe.skipIf(missing !== "")(`report page${missing}`, () => {
  let server: PageServer;
  const measured = new Map<number, Measured>();

  beforeAll(async () => {
    const pages = new Map([["/report.html", unprotected]]);
    for (const width of WIDTHS) pages.set(`/${width}.html`, framingPage("/report.html", width, 900, figures));
    for (const width of WIDTHS) pages.set(`/${width}-tall.html`, framingPage("/report.html", width, 12_000));
    server = await servePages(pages);
    for (const width of WIDTHS) measured.set(width, measuredIn(await dumpDom(chromium!, server.url(`/${width}.html`))));
  });

  afterAll(() => server?.close());

  test("reportPage() has the structure of the fixture's data in a real browser", async () => {
    const dom = await dumpDom(chromium!, server.url("/report.html"));
    expect(dom.match(/<li class="claim"/g)).toHaveLength(page.claims!.claims.length);
    expect(dom.match(/<figure /g)).toHaveLength(page.figures.length);
    expect(dom.match(/<tr class="metric">/g)).toHaveLength(page.results[0].columns.length);
    expect(dom.match(/<tr class="command">/g)).toHaveLength(page.runs.length);
    for (const id of ["claims", "results", "figures", "texts", "how-to-read", "runs"]) {
      expect(dom).toContain(`<a href="#${id}">`);
      expect(dom).toContain(`<section id="${id}"`);
    }
  });

  test("reportPage() runs nothing of hostile text, even without its policy", () => {
    for (const { title, active } of measured.values()) {
      expect(title).toBe(page.title);
      expect(active).toEqual([]);
    }
  });

  test.each(WIDTHS)("reportPage() does not overflow a page of %i px", (width) => {
    const { scrollWidth, wide } = measured.get(width)!;
    expect(wide).toEqual([]);
    expect(scrollWidth).toBeLessThanOrEqual(width);
  });

  test.each(WIDTHS)(
    "reportPage() cuts off no text in figures and lays none over another on a page of %i px",
    (width) => {
      const { cutOff, overlapping } = measured.get(width)!;
      expect(cutOff).toEqual([]);
      expect(overlapping).toEqual([]);
    },
  );

  test("the figures are well-formed XML for a browser's parser", () => {
    expect(measured.get(WIDTHS[0])!.malformed).toEqual([]);
  });

  test.each(WIDTHS.flatMap((width) => [[width, "light"], [width, "dark"]] as const))(
    "reportPage() can be seen at %i px, %s",
    async (width, scheme) => {
      const height = Math.min(12_000, measured.get(width)!.scrollHeight);
      const bytes = await screenshot(chromium!, server.url(`/${width}-tall.html`), { width, height }, scheme);
      mkdirSync(SCREENSHOTS, { recursive: true });
      writeFileSync(join(SCREENSHOTS, `report-${width}-${scheme}.png`), bytes);
      const picture = decodePng(bytes);
      expect(picture.width).toBe(width);
      expect(colourCount(picture)).toBeGreaterThan(50);
      if (scheme === "light") expect(meanLightness(picture)).toBeGreaterThan(0.8);
      else expect(meanLightness(picture)).toBeLessThan(0.25);
    },
  );
});

function measuredIn(dom: string): Measured {
  const json = dom.match(/<pre id="measured"[^>]*>(.*?)<\/pre>/s)?.[1] ?? "";
  return JSON.parse(json.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&nbsp;/g, " ").replace(/&amp;/g, "&"));
}
