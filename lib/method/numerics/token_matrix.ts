/** One number for each token: `[sequences][tokens]`, padded to equal length. */
export type TokenMatrix = readonly ArrayLike<number>[];

/**
 * Checks that matrices have the same shape.
 *
 * @param action what cannot be done otherwise, for the message: `compute the PPO loss`
 * @throws {RangeError} if any differs from the first
 */
export function requireSameShape(action: string, first: TokenMatrix, ...others: readonly TokenMatrix[]): void {
  for (const other of others) {
    const isSame = other.length === first.length && first.every((row, index) => row.length === other[index].length);
    if (!isSame) {
      throw new RangeError(
        `Cannot ${action}: the matrices of tokens differ in shape (${shape(first)} and ${shape(other)})`,
      );
    }
  }
}

function shape(matrix: TokenMatrix): string {
  return `${matrix.length} × [${matrix.map((row) => row.length).join(", ")}]`;
}

/** A new matrix of the same shape, entry by entry. */
export function mapTokens(
  matrix: TokenMatrix,
  entry: (value: number, row: number, token: number) => number,
): number[][] {
  return matrix.map((values, row) => Array.from(values, (value, token) => entry(value, row, token)));
}
