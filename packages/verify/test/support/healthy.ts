import { expect } from 'vitest';
import { openStore } from '../../../idsmith/src/stores/open.ts';
import type { Store } from '../../../idsmith/src/stores/store.ts';
import { reportOf } from '../run-verify.ts';

/** The arguments of a short run. */
export const SHORT = ['--minutes', '0.05', '--processes', '2', '--seed', '3'];

/** The URL with settings for the test: a Redis that waits less for a new namespace, an etcd that may take long on a busy machine. */
const tried = (url: string) =>
  url.replace(/^redis:.*/, '$&?maxTtl=2000').replace(/^etcd:.*/, '$&?timeout=60000');

/** Everything in the store that a neighbour of the run has, and all names of sequences. */
async function neighbourhood(store: Store) {
  const leases = (await store.listLeases('neighbour')).sort((a, b) => a.id - b.id);
  const sequences = await store.listSequences();
  return JSON.stringify({ leases, sequences }, (_key, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

async function moveIn(store: Store): Promise<void> {
  await store.defineSequence({ name: 'neighbour', start: 2n ** 60n + 1n });
  await store.allocate('neighbour', 2);
  if (store.guarded) return;
  const record = { owner: 'a neighbour', epoch: 7, fence: 1_700_000_000_001, expiresAt: 0, label: '' };
  await store.swapLease('neighbour', undefined, { id: 3, ...record });
  await store.swapLease('neighbour', undefined, { id: 5, ...record });
}

/** A short run on the store passes, leaves nothing behind, and touches nothing of others. */
export async function passes(url: string): Promise<void> {
  const store = await openStore(url);
  await moveIn(store);
  const before = await neighbourhood(store);
  const { status, report } = await reportOf(['--store', tried(url), ...SHORT]);
  expect(report.broken).toEqual([]);
  expect(status).toBe(0);
  expect(report.left).toEqual([]);
  expect(report.figures.cases.passed).toBeGreaterThan(40);
  for (const count of Object.values(report.figures.ids)) expect(count).toBeGreaterThan(0);
  await expect(store.removeTrial?.('neighbour')).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  expect(await neighbourhood(store)).toBe(before);
  await store.close();
}
