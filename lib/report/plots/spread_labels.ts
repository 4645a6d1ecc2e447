/** A label that wants to be at a place. */
export interface WantedLabel {
  /** Wanted centre, in pixels. */
  centre: number;
  /** In pixels. */
  height: number;
}

/**
 * Centres, in the labels' order, at which no two labels overlap, all lie within [top, bottom], and the squared
 * distances to the wanted centres are least (isotonic regression by pooling adjacent violators). Labels that do not fit
 * together are spread evenly over the space.
 */
export function spreadLabels(labels: readonly WantedLabel[], top: number, bottom: number): number[] {
  const order = [...labels.keys()].sort((a, b) => labels[a].centre - labels[b].centre);
  const total = labels.reduce((sum, { height }) => sum + height, 0);
  const squeeze = Math.min(1, (bottom - top) / total);
  // In coordinates from which the heights of all labels above are subtracted, "no overlap" is "in order".
  const above: number[] = [];
  let sum = 0;
  for (const index of order) {
    above.push(sum + labels[index].height * squeeze / 2);
    sum += labels[index].height * squeeze;
  }
  const free = isotonic(order.map((index, position) => labels[index].centre - above[position]));
  const centres = new Array<number>(labels.length);
  for (const [position, index] of order.entries()) {
    centres[index] = Math.min(Math.max(free[position], top), bottom - sum) + above[position];
  }
  return centres;
}

/** The non-decreasing sequence nearest to the values. */
function isotonic(values: readonly number[]): number[] {
  const blocks: { sum: number; count: number }[] = [];
  for (const value of values) {
    let block = { sum: value, count: 1 };
    while (blocks.length > 0 && mean(blocks[blocks.length - 1]) > mean(block)) {
      const previous = blocks.pop()!;
      block = { sum: previous.sum + block.sum, count: previous.count + block.count };
    }
    blocks.push(block);
  }
  return blocks.flatMap((block) => new Array<number>(block.count).fill(mean(block)));
}

function mean({ sum, count }: { sum: number; count: number }): number {
  return sum / count;
}
