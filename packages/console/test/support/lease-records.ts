import { claimed } from '../../../idsmith/src/lease/protocol.ts';
import type { LeaseJson } from '../../src/api/types.ts';

export const NOW = 1_800_000_000_000;
export const TTL = 30_000;

/** The record of a node id that is held, as the lease protocol makes it. */
export function held(id: number, label = 'web 1', now = NOW, record?: LeaseJson): LeaseJson {
  const candidate = { id, record, readyAt: record?.fence ?? 0 };
  return claimed(candidate, now, { owner: 'x', label, ttl: TTL, maxSkew: 0 });
}
