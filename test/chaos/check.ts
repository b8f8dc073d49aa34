import { momentOf, timeOf } from './layout.ts';

/** What one process has handed out, in order, with a zero before the ids of each generator. */
export interface Ledger {
  readonly name: string;
  readonly ids: BigUint64Array;
}

/** How many of each kind of problem are described. */
const SHOWN = 5;

/** All ids of all processes, in numerical order. */
export function sortedIds(ledgers: readonly Ledger[]): BigUint64Array {
  const all = new BigUint64Array(ledgers.reduce((sum, { ids }) => sum + ids.length, 0));
  let at = 0;
  for (const { ids } of ledgers) {
    all.set(ids, at);
    at += ids.length;
  }
  all.sort();
  return all.subarray(all.lastIndexOf(0n) + 1);
}

/** Ids that were handed out twice, exactly. */
export function duplicates(sorted: BigUint64Array): string[] {
  const again: string[] = [];
  for (let i = 1; i < sorted.length; i++)
    if (sorted[i] === sorted[i - 1]) again.push(`${sorted[i]} was handed out twice`);
  return again;
}

/** Moments of a node id that two processes have used: their windows overlapped, by chance without a duplicate. */
export function sharedMoments(ledgers: readonly Ledger[]): string[] {
  const users = new Map<bigint, string>();
  const shared = new Set<string>();
  for (const { name, ids } of ledgers) {
    for (const id of ids) {
      if (id === 0n) continue;
      const moment = momentOf(id);
      const other = users.get(moment);
      if (other !== undefined && other !== name)
        shared.add(`${other} and ${name} both used moment ${moment} (${new Date(timeOf(id)).toISOString()})`);
      users.set(moment, name);
    }
  }
  return [...shared];
}

/** Ids that are not above the one before them from the same generator. */
export function disorder(ledgers: readonly Ledger[]): string[] {
  return ledgers.flatMap(({ name, ids }) => {
    const found: string[] = [];
    for (let i = 1; i < ids.length; i++)
      if (ids[i] !== 0n && ids[i]! <= ids[i - 1]!) found.push(`${name}: ${ids[i]} came after ${ids[i - 1]}`);
    return found;
  });
}

/** Ids with a time that is more than a minute from when the run was. */
export function wrongTimes(sorted: BigUint64Array, from: number, to: number): string[] {
  const isWrong = (id: bigint) => timeOf(id) < from - 60_000 || timeOf(id) > to + 60_000;
  return Array.from(sorted.filter(isWrong), (id) => `${id} says ${new Date(timeOf(id)).toISOString()}`);
}

/** The first few of many, and how many there are. */
export function abridged(problems: readonly string[]): string[] {
  const more = problems.length - SHOWN;
  return more > 0 ? [...problems.slice(0, SHOWN), `… and ${more} more of these`] : [...problems];
}
