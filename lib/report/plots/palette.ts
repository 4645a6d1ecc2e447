/**
 * Colours of series, by position, on a light and on a dark page.
 *
 * Each has a contrast of at least 3 : 1 to its page (WCAG 2.2, 1.4.11), and any two stay apart with each of the three
 * forms of colour blindness (simulated after Machado, Oliveira and Fernandes 2009). Series also differ by {@link DASHES}.
 */
export const PALETTE = {
  light: ["#0a5fc2", "#d9660f", "#3a1a6e", "#8f3f5c", "#8c86a8", "#5f1210"],
  dark: ["#6aaeff", "#f0913f", "#f4ecb0", "#c4457c", "#3fe0cf", "#7d62e8"],
} as const;

/** Ink, paper and verdict colours; of text, so with a contrast of at least 4.5 : 1. */
export const TONE_COLOURS = {
  light: { ink: "#1a1f26", paper: "#ffffff", good: "#0b6b3a", bad: "#b3261e", open: "#7a5600", muted: "#5b6572" },
  dark: { ink: "#e6e9ee", paper: "#14181d", good: "#63d394", bad: "#ff8f85", open: "#e9bd55", muted: "#9aa5b1" },
} as const;

/** Dash patterns of series, by position; the first is a solid line. */
export const DASHES: readonly (string | undefined)[] = [undefined, "7 3", "2 3", "9 3 2 3", "4 2 1 2 1 2", "1 4"];

/** The colour of the series at a position. */
export function seriesColour(index: number): string {
  return `var(--series-${(index % PALETTE.light.length) + 1})`;
}

/** The dash pattern of the series at a position. */
export function seriesDash(index: number): string | undefined {
  // A second round through the colours starts one pattern further, so that no two of 30 series look the same.
  return DASHES[(index + Math.floor(index / PALETTE.light.length)) % DASHES.length];
}

/** Declarations of the custom properties that figures draw with: `--series-1` …, `--ink`, `--paper`, `--good` …. */
export function paletteProperties(scheme: "light" | "dark"): string {
  const series = PALETTE[scheme].map((colour, index) => `--series-${index + 1}:${colour}`);
  const tones = Object.entries(TONE_COLOURS[scheme]).map(([tone, colour]) => `--${tone}:${colour}`);
  return [...series, ...tones].join(";");
}
