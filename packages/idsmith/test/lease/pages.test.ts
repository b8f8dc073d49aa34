import fc from 'fast-check';
import { acquireLease, type LeaseRecord, memoryStore } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { pageOf } from '../../src/lease/acquire.ts';
import { anyReady, candidates, isReady } from '../../src/lease/protocol.ts';
import { meanwhile, setUp } from './set-up.ts';
import { simulateScale } from './simulation/scale.ts';

const NOW = 1_000_000;

describe('the page to look at', () => {
  const store = memoryStore();

  it('is the whole namespace unless the namespace is large', () => {
    expect(pageOf({ store, first: 0, size: 1024 }, 0, false, 0)).toBeUndefined();
    expect(pageOf({ store, first: 0, size: 1025 }, 0, false, 0)).toEqual({ first: 0, count: 64 });
  });

  it('is one of the lowest first, then any, and in the end the whole namespace', () => {
    const pages = [0, 1, 2, 3, 4].map(
      (seen) => pageOf({ store, first: 0, size: 65_536 }, seen, false, 0.5)?.first,
    );
    expect(pages).toEqual([0, 64, 32_768, 32_768, undefined]);
  });

  it('is any page of a namespace of any size for those who have rivals', () => {
    expect(pageOf({ store, first: 0, size: 256 }, 0, true, 0.99)).toEqual({ first: 192, count: 64 });
    expect(pageOf({ store, first: 0, size: 130 }, 0, true, 0.99)).toEqual({ first: 128, count: 2 });
    expect(pageOf({ store, first: 0, size: 5 }, 0, true, 0.99)).toEqual({ first: 0, count: 5 });
    expect(pageOf({ store, first: 0, size: 5 }, 1, true, 0.99)).toBeUndefined();
  });

  it('has at least one node id: a store with another size is refused', async () => {
    for (const pageSize of [0, -1, 1.5, Number.NaN]) {
      const taking = acquireLease({ ...store, pageSize }, { namespace: 'x', size: 5 });
      await expect(taking).rejects.toThrow("the store's pageSize must be");
    }
  });

  it('is the whole namespace of a store that reads no pages', () => {
    const { readLeases: _, ...plain } = memoryStore();
    expect(pageOf({ store: plain, first: 0, size: 65_536 }, 0, true, 0.5)).toBeUndefined();
  });

  const readLeases = async () => [];
  const page = (size: number, seen: number, hasRivals = false, fraction = 0.5, pageSize?: number) =>
    pageOf(
      { first: 0, size, store: { readLeases, ...(pageSize && { pageSize }) } as never },
      seen,
      hasRivals,
      fraction,
    );

  it('is the whole namespace, unless it is larger than 16 pages', () => {
    expect(page(64, 0, false, 0.5, 4)).toBeUndefined();
    expect(page(65, 0, false, 0.5, 4)).toEqual({ first: 0, count: 4 });
    expect(page(1024, 0)).toBeUndefined();
    expect(page(1025, 0)).toEqual({ first: 0, count: 64 });
    expect(pageOf({ first: 0, size: 1025, store: {} as never }, 0, true, 0)).toBeUndefined();
  });

  it('is one of the two lowest, then any two, then the whole namespace', () => {
    const pages = [0, 1, 2, 3, 4].map((seen) => page(66, seen, false, 0.5, 4));
    expect(pages.map((each) => each?.first)).toEqual([0, 4, 32, 32, undefined]);
    expect(page(66, 2, false, 0.99, 4)).toEqual({ first: 64, count: 2 });
  });

  it('is any one for those who know of rivals, at most once for each page', () => {
    expect(page(66, 0, true, 0.5, 4)).toEqual({ first: 32, count: 4 });
    expect(page(3, 0, true, 0.99, 4)).toEqual({ first: 0, count: 3 });
    expect(page(8, 1, true, 0.99, 4)).toEqual({ first: 4, count: 4 });
    expect(page(8, 2, true, 0.99, 4)).toBeUndefined();
    expect(page(3, 1, true, 0.99, 4)).toBeUndefined();
  });
});

describe('any node id that is ready', () => {
  const record = fc.record({
    id: fc.integer({ min: -1, max: 30 }),
    owner: fc.constantFrom('a', null),
    epoch: fc.constant(1),
    fence: fc.constantFrom(0, NOW, NOW + 500, NOW + 5000),
    expiresAt: fc.constantFrom(0, NOW + 5000),
    label: fc.constant(''),
  });
  const records = fc.uniqueArray(record, { selector: ({ id }) => id });

  it('is one of the candidates, whatever the records, and any of them can come', () => {
    fc.assert(
      fc.property(records, fc.nat(20), fc.integer({ min: 1, max: 20 }), (found, first, count) => {
        const end = first + count;
        const ready = candidates(found, end, NOW, first).filter((each) => isReady(each, NOW));
        // More fractions than there are candidates, evenly spread: each of them meets a candidate.
        const picked = Array.from({ length: 200 }, (_, i) => anyReady(found, end, NOW, i / 200, first));
        const byId = (a: { id: number }, b: { id: number }) => a.id - b.id;
        const distinct = [...new Map(picked.flatMap((each) => (each ? [[each.id, each]] : []))).values()];
        expect(distinct.sort(byId)).toEqual(ready.sort(byId));
      }),
    );
  });
});

describe('a large namespace', () => {
  const held = (id: number): LeaseRecord => {
    const until = Date.UTC(2027, 0, 1);
    return { id, owner: 'x', epoch: 1, fence: until, expiresAt: until, label: '' };
  };

  async function setUp(size: number, ids: Iterable<number>) {
    const time = new FakeTime();
    const inner = memoryStore();
    for (const id of ids) await inner.swapLease('large', undefined, held(id));
    const asked: string[] = [];
    const store = {
      ...inner,
      now: async () => time.now,
      listLeases: (namespace: string) => {
        asked.push('list');
        return inner.listLeases(namespace);
      },
      readLeases: (...args: [string, number, number]) => {
        asked.push('page');
        return inner.readLeases!(...args);
      },
    };
    const lease = () =>
      acquireLease(store, {
        namespace: 'large',
        size,
        timer: time,
        clock: time.clock(),
        maxSkew: 0,
        // After the lowest pages it looks into the middle, where nobody is.
        random: { fill: (target) => void crypto.getRandomValues(target).fill(0x80, 0, 1) },
      });
    return { time, lease, asked };
  }

  it('that is empty gives its lowest node id, and is known to be empty', async () => {
    const { time, lease, asked } = await setUp(65_536, []);
    const held = await lease();
    expect(held.id).toBe(0);
    expect(asked).toEqual(['page', 'list']);
    const told: string[] = [];
    held.on('empty-namespace', () => told.push('empty'));
    await time.advance(100);
    expect(told).toEqual(['empty']);
  });

  it('gives the lowest node id that is free on its first two pages', async () => {
    const { lease, asked } = await setUp(65_536, Array(100).keys());
    expect((await lease()).id).toBe(100);
    expect(asked).toEqual(['page', 'page']);
  });

  it('is not taken for empty because a page is', async () => {
    const { time, lease, asked } = await setUp(65_536, Array(2000).keys());
    const held = await lease();
    const told: string[] = [];
    held.on('empty-namespace', () => told.push('empty'));
    expect(held.id).toBeGreaterThanOrEqual(2000);
    expect(asked).not.toContain('list');
    await time.advance(100);
    expect(told).toEqual([]);
  });

  it('is listed only when four pages have nothing free, and gives its last node id all the same', async () => {
    const all = [...Array(2000).keys()];
    const { lease, asked } = await setUp(2000, all.slice(0, -1));
    expect((await lease()).id).toBe(1999);
    expect(asked.length).toBeLessThanOrEqual(5);
    const full = await setUp(2000, all);
    await expect(full.lease()).rejects.toThrow('all 2000 are held');
    expect(full.asked).toEqual(['page', 'page', 'page', 'page', 'list']);
  });
});

describe('a fleet in the simulator', () => {
  it('has as many leases as node ids, renews each three times in a ttl, and comes back after an outage', async () => {
    const phases = await simulateScale({ processes: 40, nodes: 32 });
    expect(phases.map(({ active }) => active)).toEqual([32, 32, 32, 0, 32]);
    const steady = phases.find(({ name }) => name === 'steady')!;
    const expected = (32 * 3 * steady.seconds) / 30;
    expect(steady.operations.swap / expected).toBeGreaterThan(0.9);
    expect(steady.operations.swap / expected).toBeLessThan(1.1);
  });
});

const free = (id: number, fence: number): LeaseRecord => ({
  id,
  owner: null,
  epoch: 1,
  fence,
  expiresAt: 0,
  label: '',
});

describe('an acquisition in a large namespace', () => {
  it('begins with the lowest page again after it has waited', async () => {
    const { time, store, inner, lease } = setUp({ pageSize: 1 });
    for (let id = 0; id < 17; id++) await inner.swapLease('test', undefined, free(id, time.now + 5000));
    const pages: (number | string)[] = [];
    store.listLeases = (namespace) => {
      pages.push('all');
      return inner.listLeases(namespace);
    };
    store.readLeases = async (namespace, first, count) => {
      pages.push(first);
      return (await inner.readLeases?.(namespace, first, count)) ?? [];
    };
    const held = await meanwhile(time, lease({ size: 17 }));
    expect(held.id).toBe(0);
    expect([pages.slice(0, 2), pages.slice(4)]).toEqual([
      [0, 1],
      ['all', 0],
    ]);
  });

  it('reads nothing more for its layout, if nobody else claims at the same time', async () => {
    let reads = 0;
    const { lease } = setUp({
      readLeases: async () => {
        reads++;
        return [];
      },
    });
    await lease({ layout: { nodes: 3, fingerprint: 'a' } });
    expect(reads).toBe(0);
  });
});
