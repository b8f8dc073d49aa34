import { originOf } from './families.js';
import type { Minted } from './history.js';
import type { Finding } from './rules.js';

/** How far the time in an id may be from the time of the run, ms. */
const TOLERANCE = 60_000;

/** Ids that were handed out twice, exactly. */
export function repeatedIds(minted: readonly Minted[]): Finding[] {
  const holders = new Map<string, string>();
  const found: Finding[] = [];
  for (const { by, family, ids } of minted)
    for (const id of ids) {
      const key = `${family} ${id}`;
      const other = holders.get(key);
      if (other !== undefined)
        found.push({ rule: 'unique', detail: `${id} (${family}) was handed out by ${other} and by ${by}` });
      holders.set(key, by);
    }
  return found;
}

/** Moments of a node id that two processes have used: their windows overlapped, by chance without a repetition. */
export function sharedMoments(minted: readonly Minted[]): Finding[] {
  const users = new Map<string, string>();
  const found = new Map<string, Finding>();
  for (const { by, family, ids } of minted)
    for (const id of ids) {
      const origin = originOf(family, id);
      if (origin === undefined) continue;
      const key = `${family} ${origin.node} ${origin.time}`;
      const other = users.get(key) ?? by;
      users.set(key, by);
      if (other === by) continue;
      const when = new Date(origin.time).toISOString();
      const detail = `${other} and ${by} both minted with node id ${origin.node} of ${family} at ${when}`;
      found.set(key, { rule: 'unique', detail });
    }
  return [...found.values()];
}

/** Ids with a time far from the time of the run: a process with a wrong clock was not refused. */
export function wrongTimes(minted: readonly Minted[], begin: number, end: number): Finding[] {
  return minted.flatMap(({ by, family, ids }) =>
    ids.flatMap((id): Finding[] => {
      const time = originOf(family, id)?.time;
      if (time === undefined || (time >= begin - TOLERANCE && time <= end + TOLERANCE)) return [];
      const detail = `${by} minted ${id} (${family}), which says ${new Date(time).toISOString()}`;
      return [{ rule: 'clock', detail }];
    }),
  );
}
