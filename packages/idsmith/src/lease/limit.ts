import { show } from '../options.js';
import { NamespaceRefusal } from './namespace-refusal.js';
import { DEFAULT_MAX_TTL, type LeaseSettings } from './options.js';
import type { LeaseRecord, LeaseStore } from './port.js';
import { isUndated } from './protocol.js';

// A store that can forget has a limit for the ttl. Whoever founds a namespace again after a loss waits for the longest ttl that
// any client of the namespace may have used.

/** The longest ttl that each namespace of a store has ever allowed, as far as this process has seen. */
const limits = new WeakMap<LeaseStore, Map<string, number>>();

/** Remembers the limit in the birth record of a namespace, which the store may lose. */
export function rememberLimit({ store, namespace }: LeaseSettings, birth: LeaseRecord | undefined): void {
  if (birth === undefined || isUndated(birth)) return;
  const known = limits.get(store) ?? new Map<string, number>();
  limits.set(store, known);
  // Zero is from a version that did not write its limit: then the default counts.
  known.set(namespace, Math.max(known.get(namespace) ?? 0, birth.epoch || DEFAULT_MAX_TTL));
}

/** The longest ttl that any client of the namespace may have used, as far as this process knows. */
export function longestTtl({ store, namespace, maxTtl }: LeaseSettings): number {
  return Math.max(limits.get(store)?.get(namespace) ?? 0, maxTtl);
}

/** @throws InvalidOptionError when others in this namespace would not wait for windows of this length */
export function requireTtl({ namespace, ttl, maxTtl }: LeaseSettings, { epoch }: LeaseRecord): void {
  // Zero is from a version without a limit in the record. The limit was the client's own.
  const limit = epoch === 0 ? maxTtl : epoch;
  if (ttl > limit)
    throw new NamespaceRefusal(
      `ttl must be at most ${limit} in namespace ${show(namespace)}, whose first client set this limit, not ${ttl}`,
    );
}
