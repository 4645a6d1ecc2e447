import published from "./published.json" with { type: "json" };
import type { PublishedValue } from "../../lib/recipe/recipe.ts";

/**
 * The printed average of an arm in one of the paper's tables, or undefined where none was found.
 *
 * @throws {RangeError} on a table or arm that published.json does not have
 */
export function publishedAverage(table: string, arm: string): PublishedValue | undefined {
  const found = published.tables.find(({ id }) => id === table);
  const row = found?.rows.find((each) => each.arm === arm);
  if (found === undefined || row === undefined) {
    throw new RangeError(`published.json has no row ${arm} in table ${table}`);
  }
  if (row.average.value === null) return undefined;
  return {
    value: row.average.value,
    unit: found.unit as PublishedValue["unit"],
    what: `${found.title}, ${row.method}`,
    where: row.source.where,
    quality: row.source.quality,
    copiedFrom: row.source.copied_from,
  };
}

/** The difference that a claim of the paper reports. @throws {RangeError} if published.json does not have it */
export function publishedDifference(id: string): PublishedValue {
  const claim = published.claims.find((each) => each.id === id);
  if (claim === undefined || claim.delta === null) {
    throw new RangeError(`published.json has no difference for the claim ${id}`);
  }
  return {
    value: claim.delta,
    unit: "percent",
    what: `${claim.metric}, ${claim.setting}`,
    where: claim.source.where,
    quality: claim.source.quality,
    copiedFrom: claim.source.copied_from,
  };
}
