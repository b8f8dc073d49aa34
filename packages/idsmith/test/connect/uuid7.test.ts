import { memoryStore } from 'idsmith';
import { connect } from 'idsmith/connect';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { repeated } from '../support/unique.ts';

const named = (code: string) => expect.objectContaining({ code });
const same = { fill: (target: Uint8Array) => void target.fill(7) };
const nodeOf = (id: string) => Number.parseInt(id.slice(-4), 16);

describe('ids.uuid7', () => {
  it('gives the generator of a name, on a lease that close() releases', async () => {
    const store = memoryStore();
    const ids = await connect(store, { label: 'host 1' });
    const [a, b] = await Promise.all([ids.uuid7('orders'), ids.uuid7('orders')]);
    expect(a).toBe(b);
    expect(nodeOf(a.next())).toBe(a.lease?.id);
    expect(ids.status()).toMatchObject({
      ready: true,
      leases: [{ family: 'uuid7', namespace: 'uuid7', names: ['orders'] }],
    });
    await expect(ids.uuid7('orders', { ttl: 1000 })).rejects.toThrow('another ttl');
    await ids.close();
    expect(() => a.next()).toThrow(named('CLOSED'));
    const records = await store.listLeases('uuid7');
    expect(records.filter(({ owner }) => owner !== null)).toEqual([]);
    await expect(ids.uuid7('orders')).rejects.toThrow(named('CLOSED'));
  });

  it('never repeats an id of another process, though all have the same random source', async () => {
    const store = memoryStore();
    const clock = new FakeClock(Date.now());
    const processes = await Promise.all([1, 2, 3].map(() => connect(store)));
    const generators = await Promise.all(
      processes.map((ids) => ids.uuid7('orders', { clock, random: same })),
    );
    const made = generators.flatMap((generator) => [generator.next(), ...generator.batch(500)]);
    expect(new Set(made.map(nodeOf)).size).toBe(3);
    expect(repeated(made)).toEqual([]);
    await Promise.all(processes.map((ids) => ids.close()));
  });

  it('gives a generator without a lease if there is no name', async () => {
    const store = memoryStore();
    const ids = await connect(store);
    const plain = await ids.uuid7();
    expect(await ids.uuid7()).toBe(plain);
    expect([plain.lease, ids.status().leases]).toEqual([undefined, []]);
    const clock = new FakeClock(1_000_000);
    const own = await ids.uuid7(undefined, { clock });
    expect(own).not.toBe(plain);
    expect(own.next().slice(0, 13)).toBe('0000000f-4240');
    // Options of a lease would have no effect.
    await expect(ids.uuid7(undefined, { ttl: 1000 })).rejects.toThrow(named('INVALID_OPTION'));
    await expect(ids.uuid7('orders', { mode: 'x' } as never)).rejects.toThrow(named('INVALID_OPTION'));
    await plain.close();
    const another = await ids.uuid7();
    another.next();
    expect(await ids.uuid7()).toBe(another);
    await ids.close();
    for (const each of [plain, another, own]) expect(() => each.next()).toThrow(named('CLOSED'));
  });

  it('closes every generator with a clock of its own, those before the last one, too', async () => {
    const ids = await connect(memoryStore());
    const clock = new FakeClock(1_000_000);
    const make = () => ids.uuid7(undefined, { clock });
    const [first, ended] = [await make(), await make()];
    await ended.close();
    const last = await make();
    for (const each of [first, last]) expect(each.next()).toMatch(/^0000000f-4240-7/);
    await ids.close();
    for (const each of [first, ended, last]) expect(() => each.next()).toThrow(named('CLOSED'));
  });
});
