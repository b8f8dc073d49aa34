/** Names to keep: a list, or an object whose values are filters for the objects below, or anything else to keep all of it. */
export type ShardjsFilter = readonly string[] | { readonly [name: string]: unknown };

/** A copy of an object with the names in the filter only. Lists of objects are filtered item by item. */
export function filterNames<T>(value: T, filter: ShardjsFilter | undefined): T {
  if (filter === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => filterNames(item, filter)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const below: Record<string, unknown> = Array.isArray(filter)
    ? Object.fromEntries(filter.map((name: string) => [name, true]))
    : (filter as Record<string, unknown>);
  const kept = Object.entries(value).filter(([name]) => Object.hasOwn(below, name) && below[name]);
  return Object.fromEntries(
    kept.map(([name, item]) => [name, filterNames(item, filterOf(below[name]))]),
  ) as T;
}

function filterOf(value: unknown): ShardjsFilter | undefined {
  return typeof value === 'object' && value !== null ? (value as ShardjsFilter) : undefined;
}
