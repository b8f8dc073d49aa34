import { defineLayout, LeasesExhaustedError, layouts, memoryStore, type Store } from 'idsmith';
import { connect } from 'idsmith/connect';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { repeated } from '../support/unique.ts';

const held = async (store: Store, namespace: string) =>
  (await store.listLeases(namespace)).filter(({ id, owner }) => id >= 0 && owner !== null);

describe('the flakes of a store', () => {
  it('never repeat each other, whatever they are called, in one process and in several', async () => {
    const store = memoryStore();
    // A clock that stands still: without node ids of their own, two generators would make the same ids.
    const clock = new FakeClock(Date.now());
    const processes = await Promise.all([1, 2, 3].map(() => connect(store)));
    const made: bigint[] = [];
    for (const ids of processes) {
      const [orders, users, plain] = [
        await ids.flakes('orders', { clock }),
        await ids.flakes('users', { clock }),
        await ids.flakes({ clock }),
      ];
      const other = await ids.flakes('payments', { clock, ttl: 60_000 });
      for (const each of [orders, users, plain, other]) made.push(...each.batch(1000), each.next());
    }
    expect(made).toHaveLength(3 * 4 * 1001);
    expect(repeated(made)).toEqual([]);
    await Promise.all(processes.map((ids) => ids.close()));
  });

  it('share one node id and one generator in a process, and increase together', async () => {
    const store = memoryStore();
    const ids = await connect(store);
    const [orders, users, plain] = await Promise.all([
      ids.flakes('orders'),
      ids.flakes('users'),
      ids.flakes(),
    ]);
    expect(users).toBe(orders);
    expect(plain).toBe(orders);
    expect(await ids.flakes(undefined, {})).toBe(orders);
    expect(await ids.flakes({ layout: layouts.jflake })).toBe(orders);
    expect(await held(store, 'jflake')).toHaveLength(1);
    expect(ids.status().leases).toMatchObject([{ namespace: 'jflake', names: ['orders', 'users'] }]);
    // A name keeps the generator that it was opened with.
    const slow = await ids.flakes('slow', { ttl: 60_000 });
    expect(slow).not.toBe(orders);
    expect(slow.lease?.id).not.toBe(orders.lease?.id);
    expect(await ids.flakes('slow')).toBe(slow);
    expect(await ids.flakes({ ttl: 60_000 })).toBe(slow);
    expect(await held(store, 'jflake')).toHaveLength(2);
    await ids.close();
    expect(await held(store, 'jflake')).toEqual([]);
  });

  it('have a pool of their own for each layout, and for each namespace that is asked for', async () => {
    const store = memoryStore();
    const ids = await connect(store);
    const custom = defineLayout({ epoch: 0, timeBits: 45, nodeBits: 5, sequenceBits: 13 });
    const [plain, snow, own, eu] = [
      await ids.flakes('orders'),
      await ids.flakes('tweets', { layout: layouts.snowflake }),
      await ids.flakes('parts', { layout: custom }),
      await ids.flakes('orders', { instance: 'eu', namespace: 'eu' }),
    ];
    expect(new Set([plain, snow, own, eu]).size).toBe(4);
    expect(ids.status().leases.map(({ namespace }) => namespace)).toEqual([
      'jflake',
      'snowflake',
      custom.fingerprint,
      'eu',
    ]);
    await expect(ids.flakes('orders', { namespace: 'us' })).rejects.toThrow(
      'the flake generator "orders" is open with another namespace: use the same options, or another name',
    );
    expect(await ids.flakes({ namespace: 'us' })).not.toBe(plain);
    await expect(ids.flakes('')).rejects.toThrow(
      'name must be text of 1 to 255 characters without NUL, not ""',
    );
    await ids.close();
  });

  it('refuse a name that processes of an earlier release hold as a pool', async () => {
    const store = memoryStore();
    const before = await connect(store, { label: 'old-host' });
    const old = await before.flakes({ namespace: 'orders' });
    const ids = await connect(store);
    await expect(ids.flakes('orders')).rejects.toThrow(
      '"orders" is also a namespace with 1 held node ids (old-host), and its ids may be equal to ids of the pool "jflake": ' +
        'stop these processes if they are of an earlier release, or give { namespace: "orders" } as they do',
    );
    expect(await ids.flakes('orders', { namespace: 'orders' })).not.toBe(old);
    await before.close();
    await ids.close();
    const later = await connect(store);
    (await later.flakes('orders')).next();
    await later.close();
  });

  it('name the layouts with more node ids when none is left', async () => {
    const store = memoryStore();
    const pair = defineLayout({ epoch: 0, timeBits: 45, nodeBits: 1, sequenceBits: 12 });
    const open = [await connect(store), await connect(store), await connect(store)] as const;
    await open[0].flakes({ layout: pair });
    await open[1].flakes({ layout: pair });
    const error = await open[2].flakes({ layout: pair }).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(LeasesExhaustedError);
    expect(error).toMatchObject({ taken: 2, size: 2 });
    expect(String(error)).toContain(
      '. Layouts with more node ids: safe53 (32), jflake (512), snowflake (1,024), instagram (8,192), sonyflake (65,536); npx idsmith plan compares them',
    );
    await Promise.all(open.map((ids) => ids.close()));
  });
});

describe('localities and UUIDs on leases', () => {
  it('come from one pool each, and share a node id where the options are the same', async () => {
    const store = memoryStore();
    const ids = await connect(store);
    const events = await ids.locality('events');
    expect(await ids.locality('logs')).toBe(events);
    expect(await ids.locality()).toBe(events);
    const together = await ids.locality('together', { mode: 'sequential' });
    expect(together.lease?.id).not.toBe(events.lease?.id);
    expect(await held(store, 'locality')).toHaveLength(2);
    const a = await ids.uuid7('a');
    expect(await ids.uuid7('b')).toBe(a);
    expect((await ids.uuid7()).lease).toBeUndefined();
    expect((await ids.uuid7({ namespace: 'eu' })).lease?.namespace).toBe('eu');
    expect(await held(store, 'uuid7')).toHaveLength(1);
    await ids.close();
  });
});
