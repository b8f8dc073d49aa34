import { memoryStore, Sequences } from 'idsmith';
import { expect, it } from 'vitest';
import { Counters } from '../../src/series/block-number.ts';
import { counterName } from '../../src/series/counters.ts';
import { SeriesFormat } from '../../src/series/format.ts';
import { gate } from '../sequence/support/alone.ts';

/** As many counters as stay open. */
const MOST_OPEN = 1000;

const nameOf = (tenant: string) => counterName('invoices', tenant, '2026');

const format = new SeriesFormat('{tenant}-{yyyy}-{n:6}', 'year');

function setUp(inner = memoryStore()) {
  const sequences = new Sequences(inner);
  const counters = new Counters({ sequences, series: 'invoices', start: 1n, format, prefetch: 10 });
  const next = (tenant: string) => counters.next(tenant, '2026', undefined);
  /** The first number that the store has not handed to anybody. */
  const stored = async (tenant: string) => (await inner.describeSequence(await nameOf(tenant))).next;
  const nextOfMany = async (from: number, to: number) => {
    for (let i = from; i < to; i++) expect(await next(`t${i}`)).toBe(1n);
  };
  return { counters, next, stored, nextOfMany };
}

it('Of more tenants than stay open, the one that was used longest ago gives its numbers back, and goes on later', async () => {
  const { counters, next, stored, nextOfMany } = setUp();
  await nextOfMany(0, MOST_OPEN);
  await expect.poll(() => stored('t1')).toBeGreaterThan(2n);
  // `t0` was opened first, and is used again, so that `t1` is the one.
  expect(await next('t0')).toBe(2n);
  await nextOfMany(MOST_OPEN, MOST_OPEN + 1);
  await expect.poll(() => stored('t1')).toBe(2n);
  for (const tenant of ['t0', 't2']) expect(await stored(tenant)).toBeGreaterThan(3n);
  expect([await next('t1'), await next('t1'), await next('t0')]).toEqual([2n, 3n, 3n]);
  await counters.close();
  expect([await stored('t0'), await stored('t1'), await stored('t2')]).toEqual([4n, 4n, 2n]);
});

it('A tenant whose caller waits for a number stays open, however many others come', async () => {
  const inner = memoryStore();
  const { opened, open } = gate();
  const allocated: string[] = [];
  const { counters, next, nextOfMany, stored } = setUp({
    ...inner,
    async allocate(name, blocks) {
      if (name === (await nameOf('slow'))) await opened;
      allocated.push(name);
      return inner.allocate(name, blocks);
    },
  });
  const waiting = next('slow');
  await nextOfMany(0, MOST_OPEN);
  // The next one in line is closed instead.
  await expect.poll(() => stored('t0')).toBe(2n);
  expect(allocated).not.toContain(await nameOf('slow'));
  open();
  expect(await waiting).toBe(1n);
  expect(await next('slow')).toBe(2n);
  await counters.close();
});
