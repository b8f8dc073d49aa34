import { ClosedError, InvalidOptionError, memoryStore, NoSuchSequenceError, Sequences } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { range, sequenceOf, TestSource } from './support/sources.ts';

describe('the factory', () => {
  it('gives one sequence for each name, until it is closed', async () => {
    const { sequences, sequence } = await sequenceOf();
    expect(await sequences.get('orders')).toBe(sequence);
    expect(await sequences.get('orders', { prefetch: 0 })).toBe(sequence);
    await sequence.close();
    expect(await sequences.get('orders')).not.toBe(sequence);
  });

  it('gives one to those who ask at the same time', async () => {
    const { sequences } = await sequenceOf();
    await sequences.define('more');
    const [a, b] = await Promise.all([sequences.get('more'), sequences.get('more')]);
    expect(a).toBe(b);
  });

  it('refuses a second use with other options', async () => {
    const { sequences } = await sequenceOf();
    await expect(sequences.get('orders', { prefetch: 4 })).rejects.toThrow('open with another prefetch');
    await expect(sequences.get('orders', { source: new TestSource() })).rejects.toThrow(InvalidOptionError);
  });

  it('does not remember a sequence that was not there', async () => {
    const sequences = new Sequences(memoryStore());
    await expect(sequences.get('orders')).rejects.toThrow(NoSuchSequenceError);
    await sequences.define('orders');
    expect(await (await sequences.get('orders')).next()).toBe(1n);
  });

  it('uses the store of the name where there is one, and the default otherwise', async () => {
    const [fallback, own] = [memoryStore(), memoryStore()];
    const sequences = new Sequences({ default: fallback, invoices: own });
    await sequences.define('invoices', { start: 5 });
    await sequences.define('orders');
    await own.defineSequence({ name: 'not ours' });
    await fallback.defineSequence({ name: 'invoices', start: 99 });
    expect(await (await sequences.get('invoices')).next()).toBe(5n);
    expect((await own.describeSequence('invoices')).start).toBe(5n);
    expect((await sequences.list()).map(({ name, start }) => [name, start])).toEqual([
      ['invoices', 5n],
      ['orders', 1n],
    ]);
    await sequences.alter('invoices', { blockSize: 2 });
    expect((await own.describeSequence('invoices')).blockSize).toBe(2);
    await sequences.remove('invoices');
    await expect(sequences.describe('invoices')).rejects.toThrow(NoSuchSequenceError);
    expect((await fallback.describeSequence('invoices')).start).toBe(99n);
  });

  it('closes all that are open', async () => {
    const { sequences, sequence, store } = await sequenceOf();
    await sequence.next();
    await sequences.close();
    expect((await store.describeSequence('orders')).next).toBe(2n);
    await expect(sequence.next()).rejects.toThrow(ClosedError);
    expect(sequences.close()).toBe(sequences.close());
    const calls = [
      sequences.get('orders'),
      sequences.get('x', { source: new TestSource() }),
      sequences.define('more'),
      sequences.ensure('orders'),
      sequences.alter('orders', { blockSize: 2 }),
      sequences.describe('orders'),
      sequences.list(),
      sequences.remove('orders'),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'CLOSED' });
    expect(sequences.status()).toEqual([]);
  });

  it('closes also what is opened in that moment, and what was removed', async () => {
    const { sequences, sequence, store } = await sequenceOf();
    await sequence.next();
    await sequences.remove('orders');
    await sequences.define('orders');
    const opening = sequences.get('orders');
    await sequences[Symbol.asyncDispose]();
    await expect(opening).rejects.toThrow(ClosedError);
    expect(() => sequence.take()).toThrow(ClosedError);
    await expect(store.describeSequence('orders')).resolves.toMatchObject({ next: 1n });
  });

  it('a sequence removed under its users ends with their block', async () => {
    const { sequences, sequence } = await sequenceOf();
    await sequence.next();
    await sequences.remove('orders');
    expect(await sequence.batch(19)).toEqual(range(2, 20));
    await expect(sequence.next()).rejects.toThrow(NoSuchSequenceError);
    await sequences.define('orders', { start: 7 });
    expect(await sequence.next()).toBe(7n);
  });

  it.each([
    ['no store', () => new Sequences(undefined as never)],
    ['no default', () => new Sequences({ orders: memoryStore() } as never)],
    ['a store that is none', () => new Sequences({ default: memoryStore(), orders: {} } as never)],
  ])('refuses %s', (_, make) => {
    expect(make).toThrow(InvalidOptionError);
  });

  it.each([{ prefetch: -1 }, { prefetch: 1.5 }, { prefetch: 'lots' }, { prefetch: 1001 }, { source: {} }])(
    'refuses to get a sequence with %o',
    async (use) => {
      const { sequences, sequence } = await sequenceOf();
      await sequence.close();
      await expect(sequences.get('orders', use as never)).rejects.toThrow(InvalidOptionError);
    },
  );

  it('refuses options it does not know', async () => {
    const sequences = new Sequences(memoryStore());
    await expect(sequences.define('x', { first: 5 } as never)).rejects.toThrow('"first"');
    await expect(sequences.define('x', null as never)).rejects.toThrow(InvalidOptionError);
    expect(await sequences.list()).toEqual([]);
  });

  it('gives another sequence after the first was removed and defined anew', async () => {
    const sequences = new Sequences(memoryStore());
    await sequences.define('x');
    const old = await sequences.get('x');
    await old.next();
    await sequences.remove('x');
    await sequences.define('x');
    const sequence = await sequences.get('x');
    expect(sequence).not.toBe(old);
    expect(await sequence.batch(40)).toEqual(range(1, 40));
    await old.close();
    expect(await sequences.get('x')).toBe(sequence);
  });

  it('refuses options of get that it does not know, and takes undefined for left out', async () => {
    const sequences = new Sequences(memoryStore());
    await sequences.define('x');
    await expect(sequences.get('x', { prefech: 3 } as never)).rejects.toThrow('"prefech"');
    const sequence = await sequences.get('x', { prefetch: undefined } as never);
    expect(await sequences.get('x', { prefetch: 'adaptive' })).toBe(sequence);
  });

  it('refuses what can allocate and nothing else', () => {
    expect(() => new Sequences({ allocate() {} } as never)).toThrow(InvalidOptionError);
  });
});
