import { createClient } from 'redis';
import { describe, expect, it } from 'vitest';
import { describeWith, STORE_SERVERS, type StoreServer } from '#services';
import { openStore } from '../../idsmith/src/stores/open.ts';
import type { Store } from '../../idsmith/src/stores/store.ts';
import { TestServer } from '../../server/test/support/server.ts';
import { reportOf } from './run-verify.ts';

// A short run on every healthy store passes, leaves nothing behind, and touches nothing of others.

const SHORT = ['--minutes', '0.05', '--processes', '2', '--seed', '3'];

/** A busy machine takes its time. */
const LONG = { timeout: 400_000 };

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

async function passes(url: string): Promise<void> {
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

// Each run waits for leases, faults and ends of processes most of its time.
const BESIDE_OTHERS = { concurrent: true };
const TITLE = 'passes, leaves nothing behind, and touches nothing of others';

for (const [name, needs, start] of STORE_SERVERS)
  await describeWith(
    needs,
    `idsmith verify on ${name}`,
    () => {
      it(TITLE, LONG, async ({ onTestFinished }) => {
        const server: StoreServer = await start();
        onTestFinished(async () => void (await server.stop()));
        await passes(server.url);
        if (name === 'redis') expect(await leftKeys(server.url)).toEqual([]);
      });
    },
    BESIDE_OTHERS,
  );

describe('idsmith verify on a server of idsmith', BESIDE_OTHERS, () => {
  it(TITLE, LONG, async ({ onTestFinished }) => {
    const server = await TestServer.start();
    onTestFinished(() => server.stop());
    await passes(server.url);
  });
});

/** The keys of runs in a Redis, of which no store knows. */
async function leftKeys(url: string): Promise<string[]> {
  const client = await createClient({ url }).connect();
  const keys = await client.keys('*verify*');
  client.destroy();
  return keys;
}
