import type { LeaseSettings } from './options.js';

/** Consecutive node ids of a namespace: `first` … `first` + `count` − 1. */
export interface Page {
  readonly first: number;
  readonly count: number;
}

/** A page without node ids: only the records of the namespace itself. */
export const NO_NODES: Page = { first: 0, count: 0 };

/** A namespace of more node ids than this number of pages is large: nobody lists it as long as pages are enough. */
const LARGE = 16;
const PAGE_SIZE = 64;
/** The pages without a free node id after which the whole namespace is listed. */
const MOST = 4;
/** The pages from the beginning of a large namespace, so that the lowest node ids come first while they are enough. */
const LOWEST = 2;

/**
 * The page to look at; `undefined` for the whole namespace.
 *
 * A namespace that is not large is listed, so that the best node id is found. Whoever knows of rivals takes any node id, and
 * looks at a page of a namespace of any size.
 *
 * @param seen the number of pages without a free node id so far
 * @param fraction a random number from 0 up to, not including, 1
 */
export function pageOf(
  { store, size }: Pick<LeaseSettings, 'store' | 'size'>,
  seen: number,
  hasRivals: boolean,
  fraction: number,
): Page | undefined {
  const count = store.pageSize ?? PAGE_SIZE;
  const pages = Math.ceil(size / count);
  const isWorthIt = hasRivals || size > LARGE * count;
  if (store.readLeases === undefined || !isWorthIt || seen >= Math.min(MOST, pages)) return undefined;
  const page = !hasRivals && seen < LOWEST ? seen : Math.floor(fraction * pages);
  const first = page * count;
  return { first, count: Math.min(count, size - first) };
}
