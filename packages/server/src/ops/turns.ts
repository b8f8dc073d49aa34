/** The number of ids after which long work lets other requests take their turn. */
const SLICE = 100;

/** Lets other requests take their turn. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Maps a list. A long list lets other requests take their turn in between. */
export function mapInTurns<T, U>(list: readonly T[], map: (item: T) => U): U[] | Promise<U[]> {
  return list.length <= SLICE ? list.map(map) : mapSlices(list, map);
}

async function mapSlices<T, U>(list: readonly T[], map: (item: T) => U): Promise<U[]> {
  const mapped: U[] = [];
  for (const [i, item] of list.entries()) {
    if (i > 0 && i % SLICE === 0) await nextTurn();
    mapped.push(map(item));
  }
  return mapped;
}
