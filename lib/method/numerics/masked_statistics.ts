import { mapTokens, requireSameShape } from "./token_matrix.ts";
import type { TokenMatrix } from "./token_matrix.ts";

/** veRL's guard against division by zero, in counts and in variances. */
const EPSILON = 1e-8;

/**
 * Mean of the unmasked entries; 1e-8 is added to their count, so it is 0 where there are none
 * (verl 0.9.1 torch_functional.py, masked_mean).
 *
 * @param values `[sequences][tokens]`
 * @param mask `[sequences][tokens]` of 0 and 1
 * @throws {RangeError} if the shapes differ
 */
export function maskedMean(values: TokenMatrix, mask: TokenMatrix): number {
  requireSameShape("average tokens", values, mask);
  let total = 0;
  for (const [row, unmasked] of mask.entries()) {
    for (let token = 0; token < unmasked.length; token++) {
      if (unmasked[token] !== 0) total += unmasked[token] * values[row][token];
    }
  }
  return total / (maskedCount(mask) + EPSILON);
}

/**
 * Unbiased variance of the unmasked entries (verl 0.9.1 torch_functional.py, masked_var).
 *
 * @param values `[sequences][tokens]`
 * @param mask `[sequences][tokens]` of 0 and 1
 * @throws {RangeError} if fewer than two entries are unmasked, or the shapes differ
 */
export function maskedVariance(values: TokenMatrix, mask: TokenMatrix): number {
  const mean = maskedMean(values, mask);
  const count = maskedCount(mask);
  if (count === 0 || count === 1) {
    throw new RangeError(`Cannot compute a variance of ${count} unmasked tokens: need at least 2`);
  }
  const biased = maskedMean(mapTokens(values, (value) => (value - mean) ** 2), mask);
  return biased * count / (count - 1);
}

/**
 * All entries, masked ones too, centred and scaled by mean and deviation of the unmasked ones
 * (verl 0.9.1 torch_functional.py, masked_whiten).
 *
 * @param values `[sequences][tokens]`
 * @param mask `[sequences][tokens]` of 0 and 1
 * @param shiftMean false adds the mean back after scaling
 * @returns `[sequences][tokens]`
 * @throws {RangeError} if fewer than two entries are unmasked, or the shapes differ
 */
export function maskedWhiten(values: TokenMatrix, mask: TokenMatrix, shiftMean = true): number[][] {
  const mean = maskedMean(values, mask);
  const scale = 1 / Math.sqrt(maskedVariance(values, mask) + EPSILON);
  return mapTokens(values, (value) => (value - mean) * scale + (shiftMean ? 0 : mean));
}

function maskedCount(mask: TokenMatrix): number {
  let count = 0;
  for (const row of mask) for (let token = 0; token < row.length; token++) count += row[token];
  return count;
}
