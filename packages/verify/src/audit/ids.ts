import { type Family, idText, originOf } from '../families.js';
import type { IdRecord } from '../history/history.js';
import type { Finding } from './rules.js';

/** How far the time in an id may be from the time of the run, ms. */
const TOLERANCE = 60_000;

/** What is wrong with ids, exactly. */
export interface IdFindings {
  /** The number of records with an id that an earlier record has. */
  readonly duplicates: number;
  /** The number of moments of a node id that two sources have used: their windows overlapped, by chance without a duplicate. */
  readonly sharedMoments: number;
  readonly findings: Finding[];
}

/** Compares every id with every other one of its family. */
export function auditIds(records: Iterable<IdRecord>): IdFindings {
  const families = new Map<Family, { sources: Map<bigint, number>; users: Map<string, number> }>();
  const shared = new Map<string, Finding>();
  const repeated: Finding[] = [];
  for (const { family, source, id } of records) {
    const { sources, users } = families.get(family) ?? { sources: new Map(), users: new Map() };
    families.set(family, { sources, users });
    const other = sources.get(id);
    if (other !== undefined)
      repeated.push({
        rule: 'unique',
        detail: `${idText(family, id)} (${family}) was handed out by process ${other} and by process ${source}`,
      });
    sources.set(id, source);
    const origin = originOf(family, id);
    if (origin === undefined) continue;
    const { node, time } = origin;
    const moment = `${node}@${time}`;
    const user = users.get(moment) ?? source;
    users.set(moment, source);
    if (user === source) continue;
    const when = new Date(time).toISOString();
    const detail = `process ${user} and process ${source} both minted with node id ${node} of ${family} at ${when}`;
    shared.set(`${family} ${moment}`, { rule: 'unique', detail });
  }
  return {
    duplicates: repeated.length,
    sharedMoments: shared.size,
    findings: [...repeated, ...shared.values()],
  };
}

/** Flakes that are not above the one before them from the same generator. Other ids are in no order. */
export function disorder(records: Iterable<IdRecord>): Finding[] {
  const last = new Map<number, bigint>();
  const found: Finding[] = [];
  for (const { family, source, id, isFirst } of records) {
    if (family !== 'flakes') continue;
    const before = last.get(source);
    if (!isFirst && before !== undefined && id <= before)
      found.push({ rule: 'behaviour', detail: `process ${source}: ${id} came after ${before}` });
    last.set(source, id);
  }
  return found;
}

/** Ids with a time far from the time of the run: a process with a wrong clock was not refused. */
export function wrongTimes(records: Iterable<IdRecord>, begin: number, end: number): Finding[] {
  const found: Finding[] = [];
  for (const { family, source, id } of records) {
    const time = originOf(family, id)?.time;
    if (time === undefined || (time >= begin - TOLERANCE && time <= end + TOLERANCE)) continue;
    const when = new Date(time).toISOString();
    found.push({
      rule: 'clock',
      detail: `process ${source} minted ${idText(family, id)} (${family}), which says ${when}`,
    });
  }
  return found;
}

/** The number of ids of each family. */
export function countIds(
  records: Iterable<IdRecord>,
  families: readonly Family[],
): Partial<Record<Family, number>> {
  const counts: Partial<Record<Family, number>> = {};
  for (const family of families) counts[family] = 0;
  for (const { family } of records) counts[family] = (counts[family] ?? 0) + 1;
  return counts;
}
