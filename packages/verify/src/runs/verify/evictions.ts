import { count } from 'idsmith/internal/cli';
import { redisInfo, schemeOf, withTimeout } from 'idsmith/internal/stores';
import type { StoreTarget } from '../../target.js';

// A Redis that removes keys breaks whatever rule the next process happens to meet: a record is gone, or, if another process was
// quicker, a node id is held twice. The rule does not tell the reason. The counters of the server do.

/** How a Redis removes keys by itself. */
export interface Evictions {
  /** `noeviction`, or another policy, with which a server that is full removes keys. */
  readonly policy: string;
  /** The number of keys that were evicted since the server started. */
  readonly evicted: number;
  /** The number of keys that expired since the server started. */
  readonly expired: number;
}

/** Reads the counters of a Redis; `undefined` on another store, and where the user may not read them. */
export async function readEvictions(target: StoreTarget): Promise<Evictions | undefined> {
  if (!('url' in target) || !/^rediss?$/.test(schemeOf(target.url))) return undefined;
  try {
    const fields = await withTimeout(redisInfo(target.url), 10_000);
    const [policy, evicted, expired] = ['maxmemory_policy', 'evicted_keys', 'expired_keys'].map((name) =>
      fields.get(name),
    );
    if (policy === undefined || evicted === undefined || expired === undefined) return undefined;
    return { policy, evicted: Number(evicted), expired: Number(expired) };
  } catch {
    // The run itself tells of a server that cannot be reached.
    return undefined;
  }
}

/** What an operator should change, from the counters before and after a run. */
export function evictionHints(
  before: Evictions | undefined,
  after: Evictions | undefined,
  isBroken: boolean,
): string[] {
  if (before === undefined || after === undefined) return [];
  const evicted = growth(before.evicted, after.evicted);
  const expired = growth(before.expired, after.expired);
  const policy = [after.policy, before.policy].find((name) => name !== 'noeviction');
  const hints: string[] = [];
  if (evicted > 0)
    hints.push(`keys were evicted: set maxmemory-policy noeviction (${count(evicted)} during the run)`);
  else if (policy !== undefined)
    hints.push(`keys can be evicted: set maxmemory-policy noeviction (it is ${policy})`);
  // Keys of idsmith never expire. Keys of others may, so this alone says nothing.
  if (isBroken && expired > 0)
    hints.push(
      `keys expired: if any begins with idsmith:, find who sets an expiry (${count(expired)} during the run)`,
    );
  return hints;
}

/** The growth of a counter, which a restart of the server sets to 0. */
const growth = (before: number, after: number) => (after < before ? after : after - before);
