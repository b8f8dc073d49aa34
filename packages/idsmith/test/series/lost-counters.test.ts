import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isOutgrown } from '../../src/series/counters.ts';
import { SeriesFormat } from '../../src/series/format.ts';
import { series } from '../../src/series/series.ts';
import { RewindingServer } from '../lineage/rewinding-store.ts';

// The counters of series in a store that goes back.

let now: number;
let server: RewindingServer;
let heard: { event: string; sequence?: string }[];
const listen = (message: unknown) => heard.push(message as (typeof heard)[number]);
beforeEach(() => {
  now = Date.UTC(2026, 6, 14);
  server = new RewindingServer(() => now);
  heard = [];
  subscribe('idsmith:store', listen);
});
afterEach(() => unsubscribe('idsmith:store', listen));

const yearly = () =>
  series('invoices', {
    format: '{tenant}-{yyyy}-{n:6}',
    period: 'year',
    prefetch: 0,
    store: server.connect(),
  });
const plain = (format: string, store = server.connect()) => series('codes', { format, prefetch: 0, store });

async function take(from: ReturnType<typeof plain>, count: number, options: { tenant?: string } = {}) {
  const numbers: string[] = [];
  for (let i = 0; i < count; i++) numbers.push(await from.next(options));
  return numbers;
}

describe('A counter that may be lost', () => {
  it('begins beyond its numbers in the period of the loss, and at its start in later ones', async () => {
    await take(yearly(), 1, { tenant: 'acme' });
    const replica = server.copy();
    const lost = await take(yearly(), 5, { tenant: 'late' });
    server.promote(replica);
    const again = await take(yearly(), 5, { tenant: 'late' });
    expect(lost[0]).toBe('late-2026-000001');
    expect(again[0]).toBe('late-2026-001001');
    now = Date.UTC(2027, 0, 1);
    expect(await take(yearly(), 1, { tenant: 'late' })).toEqual(['late-2027-000001']);
    expect(await take(yearly(), 1, { tenant: 'new' })).toEqual(['new-2027-000001']);
    const ahead = heard.filter(({ event }) => event === 'begun-ahead').map(({ sequence }) => sequence);
    expect(ahead).toEqual(['series:invoices:late:2026']);
  });

  it('leaves the mark of a series where it was, which gives out no numbers', async () => {
    await server.connect().defineSequence({ name: 'first' });
    server.promote(server.copy());
    expect(await take(plain('{n}'), 1)).toEqual(['1001']);
    expect(heard.filter(({ event }) => event === 'begun-ahead')).toHaveLength(1);
  });

  it('is made again by a series that was using it', async () => {
    // The option lets ready() note the series in the store, before its first number.
    const codes = series('codes', { format: '{n}', prefetch: 0, tenants: false, store: server.connect() });
    await codes.ready();
    const replica = server.copy();
    const lost = await take(codes, 3);
    server.promote(replica);
    await expect(codes.next()).rejects.toMatchObject({ code: 'NO_SUCH_SEQUENCE' });
    const again = await take(codes, 3);
    expect([...lost, ...again]).toEqual(['1', '2', '3', '1001', '1002', '1003']);
  });

  it('is doubted by others, too, when a process finds by its memory that the store has gone back', async () => {
    const store = server.connect();
    await store.defineSequence({ name: 'orders' });
    const replica = server.copy();
    await store.allocate('orders', 1);
    const lost = await take(plain('{n}'), 3);
    server.restoreSilently(replica);
    await expect(store.allocate('orders', 1)).rejects.toMatchObject({ code: 'STORE_WENT_BACK' });
    expect([...lost, ...(await take(plain('{n}'), 3))]).toEqual(['1', '2', '3', '1001', '1002', '1003']);
  });
});

describe('The end of a counter', () => {
  it('bounds its jump by its width', async () => {
    for (const [format, next] of [
      ['{n:2}', '05'],
      ['{n:3}', '050'],
      ['{n:4}', '0500'],
      ['{n:6}', '001001'],
      ['{n:2+}', '1001'],
    ] as const) {
      server = new RewindingServer(() => now);
      await take(plain(format), 1);
      server.promote(server.copy());
      expect(await take(plain(format), 1)).toEqual([next]);
    }
  });

  it('stays where a person has set it', async () => {
    const store = server.connect();
    await take(plain('{n:3+}', store), 1);
    await store.alterSequence('series:codes::', { max: 2 });
    for (const format of ['{n:3+}', '{n:3}']) {
      const codes = plain(format, store);
      if (format === '{n:3+}') expect(await take(codes, 1)).toEqual(['002']);
      await expect(codes.next()).rejects.toThrow(/^(?!.*does not fit).*codes/);
      expect((await store.describeSequence('series:codes::')).max).toBe(2n);
    }
  });

  it('moves with a width that has grown, also under a series that is open', async () => {
    const store = server.connect();
    const wide = plain('{n:1+}', store);
    await wide.ready();
    await store.defineSequence({ name: 'series:codes::', start: 8, max: 9, blockSize: 1 });
    expect(await take(wide, 3)).toEqual(['8', '9', '10']);
  });

  it('is looked for again after an error, by a series that is open', async () => {
    const store = server.connect();
    const wide = plain('{n:1+}', store);
    expect(await take(wide, 1)).toEqual(['1']);
    await store.alterSequence('series:codes::', { next: 9, max: 9 });
    expect(await take(wide, 1)).toEqual(['9']);
    await expect(wide.next()).rejects.toMatchObject({ code: 'SEQUENCE_EXHAUSTED' });
    expect(await take(wide, 1)).toEqual(['10']);
  });

  it('stays at a stop that somebody has set, whatever the width', async () => {
    const narrow = new SeriesFormat('{n:3}', 'none');
    const wide = new SeriesFormat('{n:3+}', 'none');
    const counter = { max: 999n, next: 1000n, exhausted: true, blockSize: 1 };
    expect(isOutgrown(counter, wide)).toBe(true);
    expect(isOutgrown({ ...counter, next: 5n, exhausted: false }, wide)).toBe(true);
    expect(isOutgrown({ ...counter, next: 999n }, wide)).toBe(false);
    // Too few numbers are left for a block.
    expect(isOutgrown({ ...counter, next: 980n, blockSize: 50 }, wide)).toBe(true);
    expect(isOutgrown({ ...counter, next: 950n, blockSize: 50 }, wide)).toBe(false);
    expect(isOutgrown({ ...counter, next: 999n, blockSize: 0 }, wide)).toBe(false);
    expect(isOutgrown(counter, narrow)).toBe(false);
    expect(isOutgrown({ ...counter, max: 998n }, wide)).toBe(false);
  });
});
