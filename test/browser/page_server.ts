import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Pages served on the loopback device. */
export interface PageServer {
  /** Where a page is. */
  url(path: string): string;
  close(): Promise<void>;
}

/** Serves HTML by path on a free port. */
export async function servePages(pages: ReadonlyMap<string, string>): Promise<PageServer> {
  const server = createServer((request, response) => {
    const page = pages.get(request.url ?? "");
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" });
    response.end(page ?? "not found");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * A page that shows another in a frame of a given width, because a window of Chromium cannot be narrower than 500 px.
 * Its script unfolds and measures the framed page, parses `figures` as XML, and writes what it found, as JSON, into
 * `<pre id="measured">`.
 */
export function framingPage(path: string, width: number, height: number, figures: readonly string[] = []): string {
  return `<!doctype html><style>body{margin:0}iframe{display:block;border:0}</style>
<iframe id="frame" src="${path}" width="${width}" height="${height}"></iframe>
<pre id="measured" hidden></pre>
<script>const FIGURES = ${JSON.stringify(figures).replaceAll("<", "\\u003c")};${MEASURE}</script>`;
}

/** What {@link framingPage} measures. */
export interface Measured {
  title: string;
  scrollWidth: number;
  scrollHeight: number;
  /** Elements that end right of the page, and no container of theirs scrolls or clips. */
  wide: string[];
  /** Texts of figures that leave their drawing. */
  cutOff: string[];
  /** Pairs of texts of a figure that lie over each other. */
  overlapping: string[];
  /** Figures that an XML parser refuses. */
  malformed: string[];
  /** Elements that could run or load something. */
  active: string[];
}

const MEASURE = `
addEventListener("load", () => {
  const page = document.getElementById("frame").contentDocument;
  const root = page.documentElement;
  for (const details of page.querySelectorAll("details")) details.open = true;
  const all = [...page.querySelectorAll("body *")];
  const isHeld = (element) => element.closest(".scroll, .skip, svg") !== null && !element.matches(".scroll");
  const name = (element) => element.tagName + "." + (element.getAttribute("class") ?? "") + " " + element.textContent.slice(0, 40);
  const wide = all.filter((element) => !isHeld(element) && element.getBoundingClientRect().right > root.clientWidth + 0.5).map(name);
  const cutOff = [...page.querySelectorAll("svg[role=img]")].filter((svg) => svg.getBoundingClientRect().width > 0).flatMap((svg) => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].filter((text) => {
      const own = text.getBoundingClientRect();
      return own.width > 0 && (own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 || own.bottom > box.bottom + 1);
    }).map((text) => text.textContent.slice(0, 60));
  });
  const overlapping = [...page.querySelectorAll("svg[role=img]")].flatMap((svg) => {
    const boxes = [...svg.querySelectorAll("text")].map((text) => ({ text, box: text.getBoundingClientRect() })).filter(({ box }) => box.width > 0);
    return boxes.flatMap(({ text, box }, index) => boxes.slice(index + 1).filter((other) =>
      Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 2 && Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 4
    ).map((other) => text.textContent.slice(0, 30) + " / " + other.text.textContent.slice(0, 30)));
  });
  const malformed = FIGURES.filter((svg) => new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("parsererror")).map((svg) => svg.slice(0, 200));
  const active = all.filter((element) =>
    ["SCRIPT", "IMG", "IFRAME", "OBJECT", "LINK", "FORM"].includes(element.tagName.toUpperCase()) ||
    [...element.attributes].some((attribute) => attribute.name.startsWith("on") || /^\\s*javascript:/i.test(attribute.value))
  ).map(name);
  document.getElementById("measured").textContent = JSON.stringify({
    title: page.title, scrollWidth: root.scrollWidth, scrollHeight: root.scrollHeight, wide, cutOff, overlapping, malformed, active,
  });
});`;
