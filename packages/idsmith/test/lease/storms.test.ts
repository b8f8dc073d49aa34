import { acquireLease, type LeaseRecord, layouts, memoryStore } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, STORE_SERVERS, type StoreServer, startRedis } from '#services';
import { startIdsmith } from '../../../server/test/support/process.ts';
import { openStore } from '../../src/stores/open.ts';
import type { Store } from '../../src/stores/store.ts';
import { setUp, TTL } from './set-up.ts';
import { expectCalm, storm } from './storm.ts';

/** How many start at once, and how many node ids there are. */
const STORMS = [
  [64, 64],
  [200, 256],
] as const;

/** Storms on clients of one store, in a namespace that is new, and again in one whose node ids were all used before. */
function storms(open: () => Promise<Store>): void {
  const stores: Store[] = [];
  beforeAll(async () => {
    for (let i = 0; i < 5; i++) stores.push(await open());
  });
  afterAll(() => Promise.all(stores.map((store) => store.close())));
  const storeOf = (process: number) => stores[process % stores.length]!;

  it.each(STORMS)(
    '%d of %d who start at once ask it a few times each',
    { timeout: 120_000 },
    async (...storm) => {
      await twice(storm[0], { namespace: crypto.randomUUID(), size: storm[1] });
    },
  );

  it('64 of 64 with a layout do, too', { timeout: 120_000 }, async () => {
    await twice(64, { namespace: crypto.randomUUID(), layout: layouts.jflake, size: 64 });
  });

  async function twice(processes: number, options: Parameters<typeof storm>[2]): Promise<void> {
    for (let round = 0; round < 2; round++) {
      const outcome = await storm(storeOf, processes, options);
      expectCalm(outcome);
      await Promise.all(outcome.leases.map((lease) => lease.release()));
    }
  }
}

/** Reads that are not about storms must not wait for long here, and there are many. */
const SETTINGS: Record<string, string> = { redis: '?durable=true', etcd: '?timeout=60000' };

/** How many records an acquisition reads in a namespace of 10,000 records, most of them held. */
async function readsFew(store: Store, put: (record: LeaseRecord) => Promise<void>): Promise<void> {
  const until = Date.now() + 3_600_000;
  const ids = Array.from({ length: 10_000 }, (_, id) => id);
  const record = { owner: 'other', epoch: 1, fence: until, expiresAt: until, label: '' };
  while (ids.length > 0) await Promise.all(ids.splice(0, 200).map((id) => put({ ...record, id })));
  let read = 0;
  const noting = (records: LeaseRecord[]) => {
    read += records.length;
    return records;
  };
  const watched: Store = {
    ...store,
    listLeases: async (...args) => noting(await store.listLeases(...args)),
    readLeases: async (...args) => noting(await store.readLeases!(...args)),
  };
  const leases = [];
  for (let i = 0; i < 5; i++)
    leases.push(await acquireLease(watched, { namespace: 'large', size: 65_536, ttl: 120_000 }));
  expect(new Set(leases.map(({ id }) => id)).size).toBe(5);
  for (const { id } of leases) expect(id).toBeGreaterThanOrEqual(10_000);
  expect(read).toBeLessThan(5 * 3 * 66);
  await Promise.all(leases.map((lease) => lease.release()));
}

describe('a storm of leases on memory', () => storms(async () => shared));
const shared = memoryStore();

for (const [name, needs, start] of STORE_SERVERS) {
  await describeWith(needs, `a storm of leases on ${name}`, () => {
    let server: StoreServer;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.stop());
    storms(() => openStore(server.url + (SETTINGS[name] ?? '')));

    it('of 10,000 records reads a few', { timeout: 120_000 }, async () => {
      const store = await openStore(server.url + (SETTINGS[name] ?? ''));
      await readsFew(store, async (record) => {
        await store.swapLease('large', undefined, record);
      });
      await store.close();
    });
  });
}

describe('a storm of leases on a server', () => {
  let server: Awaited<ReturnType<typeof startIdsmith>>;
  beforeAll(async () => {
    server = await startIdsmith();
  });
  afterAll(() => server?.stop());
  storms(() => openStore(server.url));
});

await describeWith(['redis'], 'a storm of leases on a Redis that can forget', () => {
  it('asks it a few times each, once the namespace has begun', async () => {
    const server = await startRedis();
    const store = await openStore(`${server.url}?maxTtl=6000`);
    const options = { namespace: 'storm', size: 64, ttl: 6000, maxSkew: 0 };
    await (await acquireLease(store, options)).release();
    const outcome = await storm(() => store, 64, options);
    expectCalm(outcome);
    await Promise.all(outcome.leases.map((lease) => lease.release()));
    await store.close();
    await server.stop();
  });
});

describe('leases that began together', () => {
  it('renew spread out from the first renewal on', async () => {
    const { time, lease } = setUp();
    const renewals = new Map<number, number>();
    const start = time.now;
    const leases = await Promise.all(
      Array.from({ length: 300 }, () => lease({ namespace: 'many', size: 4096 })),
    );
    for (const each of leases)
      each.once('renewed', () => {
        const slot = Math.floor((time.now - start) / (TTL / 30));
        renewals.set(slot, (renewals.get(slot) ?? 0) + 1);
      });
    await time.advance(TTL / 2);
    // Six slots, of fifty on average. A slot of a hundred does not happen by chance.
    expect([...renewals.values()].reduce((sum, each) => sum + each, 0)).toBe(300);
    expect(Math.max(...renewals.values())).toBeLessThan(100);
  });
});

describe('one who is alone', () => {
  it('takes the best node id, and asks three times', async () => {
    const time = new FakeTime();
    const store = { ...memoryStore(), now: async () => time.now };
    for (const id of [0, 1, 2]) {
      const options = { namespace: 'calm', size: 1024, timer: time, clock: time.clock() };
      const { leases, most } = await storm(() => store, 1, options);
      expect(leases[0]?.id).toBe(id);
      expect(most).toBe(3);
    }
  });
});
