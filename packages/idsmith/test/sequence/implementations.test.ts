import { memoryStore, Sequences } from 'idsmith';
import { connect } from 'idsmith/connect';
import { describe, expect, it } from 'vitest';
import type { MakeSource, NamedSource } from '../../src/sequence/sequences.ts';
import { repeated } from '../support/unique.ts';
import { TestSource } from './support/sources.ts';

const ORACLE = { implementation: 'oracle' };

describe('an implementation of sequences', () => {
  it('makes the source of a sequence, which need not be defined, from its name', async () => {
    const names: string[] = [];
    const sequences = new Sequences(memoryStore()).register('oracle', ({ name }) => {
      names.push(name);
      return new TestSource(10, 501n);
    });
    const orders = await sequences.get('orders', ORACLE);
    expect(await orders.batch(3)).toEqual([501n, 502n, 503n]);
    expect(await sequences.get('orders', ORACLE)).toBe(orders);
    expect(await sequences.get('orders')).toBe(orders);
    await sequences.get('users', ORACLE);
    expect(names).toEqual(['orders', 'users']);
  });

  it('may stand on the allocation of the store, which gives no id twice and takes the unused ones back', async () => {
    const stores = { default: memoryStore(), orders: memoryStore() };
    const counted: number[] = [];
    const counting: MakeSource = (source) => ({
      ...source,
      allocate: (blocks) => {
        counted.push(blocks);
        return source.allocate(blocks);
      },
    });
    const [one, other] = [new Sequences(stores), new Sequences(stores)];
    await one.define('orders', { blockSize: 10 });
    const wrapped = await one.register('counting', counting).get('orders', { implementation: 'counting' });
    const plain = await other.get('orders');
    const drawn = await Promise.all(Array.from({ length: 200 }, (_, i) => (i % 2 ? wrapped : plain).next()));
    expect(repeated(drawn)).toEqual([]);
    expect(counted.length).toBeGreaterThan(0);
    await plain.close();
    const before = await wrapped.batch(1000);
    await wrapped.close();
    const { next } = await other.describe('orders');
    expect(next).toBe((before.at(-1) as bigint) + 1n);
  });

  it('is made once, for all who ask at once', async () => {
    let made = 0;
    const sequences = new Sequences(memoryStore()).register('slow', async () => {
      made++;
      return new TestSource();
    });
    const use = { implementation: 'slow' };
    const opened = await Promise.all(Array.from({ length: 20 }, () => sequences.get('orders', use)));
    expect([new Set(opened).size, made]).toEqual([1, 1]);
    expect(repeated(await Promise.all(opened.map((each) => each.next())))).toEqual([]);
  });

  it('is made anew after the sequence was closed, so that it can read another sequence', async () => {
    let sequenceName = 'orders_2025';
    const asked: string[] = [];
    const sequences = new Sequences(memoryStore()).register('oracle', () => {
      asked.push(sequenceName);
      return new TestSource(10, sequenceName.endsWith('5') ? 1n : 1001n);
    });
    const before = await sequences.get('orders', ORACLE);
    expect(await before.next()).toBe(1n);
    await before.close();
    sequenceName = 'orders_2026';
    expect(await (await sequences.get('orders', ORACLE)).next()).toBe(1001n);
    expect(asked).toEqual(['orders_2025', 'orders_2026']);
  });

  it('is there for the front door', async () => {
    await using ids = await connect('memory:');
    ids.sequences.register('oracle', () => new TestSource(10, 7n));
    expect(await (await ids.sequence('orders', ORACLE)).next()).toBe(7n);
  });

  it('that fails to be made leaves nothing open', async () => {
    const store = memoryStore();
    const sequences = new Sequences(store).register('broken', () => Promise.reject(new Error('no driver')));
    await expect(sequences.get('orders', { implementation: 'broken' })).rejects.toThrow('no driver');
    await sequences.define('orders');
    expect(await (await sequences.get('orders')).next()).toBe(1n);
  });
});

describe('wrong use of an implementation', () => {
  const sequences = new Sequences(memoryStore());
  const make = () => new TestSource();
  sequences.register('oracle', make).register('none', (() => undefined) as never);

  it.each([
    ['an unknown name', { implementation: 'orcale' }, '"orcale" is not registered (known: "oracle", "none")'],
    ['a name that is no text', { implementation: 5 }, 'implementation 5 is not registered'],
    ['a source as well', { ...ORACLE, source: make() }, 'give a source or an implementation, not both'],
    ['a function that gives no source', { implementation: 'none' }, 'the source of implementation "none"'],
  ])('is refused: %s', async (_, use, message) => {
    const failure = { code: 'INVALID_OPTION', message: expect.stringContaining(message) };
    await expect(sequences.get('orders', use as never)).rejects.toMatchObject(failure);
  });

  it('is refused: another function under the same name', () => {
    expect(() => sequences.register('oracle', () => make())).toThrow(/registered with another function/);
    expect(sequences.register('oracle', make)).toBe(sequences);
    expect(() => sequences.register('', make)).toThrow(/the name of an implementation/);
    expect(() => sequences.register('x', {} as never)).toThrow(/must be a function/);
  });

  it('is refused: a sequence that is open in another way', async () => {
    await sequences.define('plain');
    await sequences.get('plain');
    await expect(sequences.get('plain', ORACLE)).rejects.toThrow(/open with another implementation/);
    await sequences.get('native', ORACLE);
    await expect(sequences.get('native', { source: make() })).rejects.toThrow(/open with another source/);
  });

  it('is refused: after the end', async () => {
    const closed = new Sequences(memoryStore());
    await closed.close();
    expect(() => closed.register('oracle', (source: NamedSource) => source)).toThrow(/closed/);
  });
});
