/** What decides a node's lane. */
interface LaneNode {
  id: string;
  born: number;
  parents: readonly string[];
}

/**
 * A lane number for each id, such that every subtree takes adjacent lanes: depth first, siblings by birth. A node whose
 * first parent is unknown, or that would be its own ancestor, starts a tree of its own.
 *
 * @throws {RangeError} if two nodes have one id
 */
export function lineageLanes(nodes: readonly LaneNode[]): Map<string, number> {
  const known = new Set(nodes.map(({ id }) => id));
  if (known.size < nodes.length) throw new RangeError("Cannot lay out a lineage in which two nodes have the same id");
  const ordered = [...nodes].sort((a, b) => a.born - b.born);
  const lanes = new Map<string, number>();
  const place = (node: LaneNode): void => {
    if (lanes.has(node.id)) return;
    lanes.set(node.id, lanes.size);
    // The youngest first: their joints are nearest, so fewer lines cross.
    for (const child of ordered.filter(({ parents }) => parents[0] === node.id).reverse()) place(child);
  };
  for (const node of ordered) if (node.parents.length === 0 || !known.has(node.parents[0])) place(node);
  for (const node of ordered) place(node);
  return lanes;
}
