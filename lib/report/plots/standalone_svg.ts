/** A figure of a report page as an SVG file of its own, for a README: it gets the page's background, light and dark. */
export function standaloneSvg(svg: string): string {
  return `${svg.replace(/^(<svg[^>]*>)/, "$1<style>.figure-plot{background:var(--paper)}</style>")}\n`;
}
