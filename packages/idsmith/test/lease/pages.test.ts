import fc from 'fast-check';
import { acquireLease, type LeaseRecord, memoryStore } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { pageOf } from '../../src/lease/pages.ts';
import { anyReady, candidates, isReady } from '../../src/lease/protocol.ts';
import { simulateScale } from './simulation/scale.ts';

const NOW = 1_000_000;

describe('the page to look at', () => {
  const store = memoryStore();

  it('is the whole namespace unless the namespace is large', () => {
    expect(pageOf({ store, size: 1024 }, 0, false, 0)).toBeUndefined();
    expect(pageOf({ store, size: 1025 }, 0, false, 0)).toEqual({ first: 0, count: 64 });
  });

  it('is one of the lowest first, then any, and in the end the whole namespace', () => {
    const pages = [0, 1, 2, 3, 4].map((seen) => pageOf({ store, size: 65_536 }, seen, false, 0.5)?.first);
    expect(pages).toEqual([0, 64, 32_768, 32_768, undefined]);
  });

  it('is any page of a namespace of any size for those who have rivals', () => {
    expect(pageOf({ store, size: 256 }, 0, true, 0.99)).toEqual({ first: 192, count: 64 });
    expect(pageOf({ store, size: 130 }, 0, true, 0.99)).toEqual({ first: 128, count: 2 });
    expect(pageOf({ store, size: 5 }, 0, true, 0.99)).toEqual({ first: 0, count: 5 });
    expect(pageOf({ store, size: 5 }, 1, true, 0.99)).toBeUndefined();
  });

  it('has at least one node id: a store with another size is refused', async () => {
    for (const pageSize of [0, -1, 1.5, Number.NaN]) {
      const taking = acquireLease({ ...store, pageSize }, { namespace: 'x', size: 5 });
      await expect(taking).rejects.toThrow("the store's pageSize must be");
    }
  });

  it('is the whole namespace of a store that reads no pages', () => {
    const { readLeases: _, ...plain } = memoryStore();
    expect(pageOf({ store: plain, size: 65_536 }, 0, true, 0.5)).toBeUndefined();
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
        ...{ namespace: 'large', size, timer: time, clock: time.clock(), maxSkew: 0 },
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
