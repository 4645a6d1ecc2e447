import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { reportPage } from "../../lib/report/html_page.ts";
import { relativeLink } from "../../lib/report/page/relative_link.ts";
import { HOSTILE, nodes, page } from "./fixture.ts";

const text = reportPage(page);
const { document } = parseHTML(text);

test("reportPage() asks for nothing from outside and runs nothing", () => {
  expect(document.querySelectorAll("script, img, link, iframe, object, embed, form")).toHaveLength(0);
  for (const element of document.querySelectorAll("*")) {
    for (const { name } of [...element.attributes]) expect(name).not.toMatch(/^on/);
  }
  expect(text).not.toMatch(/url\(|@import|src=(?!x)/);
  for (const link of document.querySelectorAll("a")) expect(link.getAttribute("href")).toMatch(/^(#|\.\/)/);
});

test("reportPage() gives every id once, and every inner link leads to one", () => {
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const link of document.querySelectorAll("a[href^='#']")) {
    expect(ids).toContain(link.getAttribute("href")!.slice(1));
  }
});

test("reportPage() shows every evolved text in full", () => {
  const shown = [...document.querySelectorAll(".texts .prose")].map(({ textContent }) => textContent);
  expect(shown).toHaveLength(nodes.length);
  expect(shown[3]).toBe(HOSTILE.script);
  expect(shown[9]).toBe(HOSTILE.long);
});

test("reportPage() names commands, commits and files of every run", () => {
  expect(document.querySelectorAll(".runs tbody")).toHaveLength(page.runs.length);
  expect(document.querySelector(".runs .command code")!.textContent).toBe(page.runs[0].command);
  expect(document.querySelector(".runs .files a")!.getAttribute("href")).toBe("./inspo/seed-0/config.json");
});

test("reportPage() leaves out sections without content", () => {
  const empty = reportPage({ ...page, claims: null, results: [], figures: [], texts: null, runs: [], howToRead: [] });
  expect(parseHTML(empty).document.querySelectorAll("section")).toHaveLength(0);
});

test("relativeLink() encodes names and cannot leave the scheme", () => {
  expect(relativeLink("inspo[@lr=1e-6]/seed-0/a b?.json")).toBe("./inspo%5B%40lr%3D1e-6%5D/seed-0/a%20b%3F.json");
  expect(relativeLink("javascript:alert(1)")).toBe("./javascript%3Aalert(1)");
  expect(relativeLink("../x.json")).toBe("./../x.json");
  for (const path of ["/etc/x", "\\\\host\\x", "C:\\x"]) expect(() => relativeLink(path)).toThrow(RangeError);
});
