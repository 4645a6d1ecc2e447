import { paletteProperties } from "./palette.ts";

/**
 * A figure of a report page as an SVG file of its own, for a README: it brings the page's colours along, light and dark,
 * and a background.
 */
export function standaloneSvg(svg: string): string {
  const style =
    `<style>svg{${paletteProperties("light")};color:var(--ink);background:var(--paper);font-family:sans-serif}` +
    `@media(prefers-color-scheme:dark){svg{${paletteProperties("dark")}}}</style>`;
  return `${svg.replace(/^(<svg[^>]*>)/, `$1${style}`)}\n`;
}
