/** A two-sided interval. */
export interface Interval {
  low: number;
  high: number;
}

/** What stands in the place of a number that does not exist. */
export const MISSING = "–";

/**
 * A number with a fixed number of decimals, the one form in which every table and figure shows it: `0.967`, `−0.031`.
 *
 * The sign is a true minus (U+2212), as wide as a digit. A value that rounds to zero has no sign; null and numbers that
 * are not finite are {@link MISSING}.
 */
export function formatNumber(value: number | null, digits = 3): string {
  return plainNumber(value, digits)?.replace("-", "−") ?? MISSING;
}

/** A difference, with its sign: `+0.055`, `−0.031`, `0.000`. */
export function formatDifference(value: number | null, digits = 3): string {
  const text = formatNumber(value, digits);
  return value !== null && Number(plainNumber(value, digits)) > 0 ? `+${text}` : text;
}

/** `[0.951, 0.983]`. */
export function formatInterval(interval: Interval | null, digits = 3): string {
  return interval === null
    ? MISSING
    : `[${formatNumber(interval.low, digits)}, ${formatNumber(interval.high, digits)}]`;
}

/** A whole number with grouped thousands: `3,610`. */
export function formatCount(count: number | null): string {
  return count === null ? MISSING : count.toLocaleString("en-US");
}

/** A share as whole per cent: `95 %` for 0.95. */
export function formatPercent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`;
}

/** The digits of {@link formatNumber} as programs read them (ASCII hyphen), or null where there is no number. */
export function plainNumber(value: number | null, digits = 3): string | null {
  if (value === null || !Number.isFinite(value)) return null;
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}
