import { memoryStore, type SequenceOptions, Sequences } from 'idsmith';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { TestSource } from './support/sources.ts';

const named = (code: string) => expect.objectContaining({ code });
const SAFE = Number.MAX_SAFE_INTEGER;

async function factory(options: SequenceOptions = {}) {
  const sequences = new Sequences(memoryStore());
  await sequences.define('orders', options);
  return sequences;
}

describe('the option as', () => {
  it('gives ids as decimal digits', async () => {
    const orders = await (await factory({ start: 2n ** 60n })).get('orders', { as: 'string' });
    expectTypeOf(orders.next).returns.resolves.toEqualTypeOf<string>();
    expectTypeOf(orders.batch).returns.resolves.toEqualTypeOf<string[]>();
    expectTypeOf(orders.take).returns.toEqualTypeOf<string | undefined>();
    expect(await orders.next()).toBe('1152921504606846976');
    expect(orders.take()).toBe('1152921504606846977');
    expect(await orders.batch(2)).toEqual(['1152921504606846978', '1152921504606846979']);
    for await (const id of orders) {
      expectTypeOf(id).toEqualTypeOf<string>();
      expect(id).toBe('1152921504606846980');
      break;
    }
  });

  it('gives ids as numbers where the sequence cannot pass 2^53', async () => {
    const orders = await (await factory({ start: SAFE - 3, max: SAFE, blockSize: 4 })).get('orders', {
      as: 'number',
    });
    expectTypeOf(orders.next).returns.resolves.toEqualTypeOf<number>();
    expectTypeOf(orders.take).returns.toEqualTypeOf<number | undefined>();
    expect(await orders.next()).toBe(SAFE - 3);
    expect(orders.take()).toBe(SAFE - 2);
    expect(await orders.batch(2)).toEqual([SAFE - 1, SAFE]);
    await expect(orders.next()).rejects.toThrow(named('SEQUENCE_EXHAUSTED'));
  });

  it.each<[string, SequenceOptions, string]>([
    ['an ascending sequence without an end', {}, `with max: ${SAFE}`],
    ['a descending one without an end', { step: -1 }, `with min: ${-SAFE}`],
    ['one that begins past it', { start: 2n ** 53n }, 'may reach 9223372036854775807'],
    ['one that cycles through it', { cycle: true, min: -(2n ** 60n), max: 5 }, `with min: ${-SAFE}`],
  ])("refuses 'number' for %s", async (_what, options, message) => {
    const sequences = await factory(options);
    const opening = sequences.get('orders', { as: 'number' });
    await expect(opening).rejects.toThrow(named('INVALID_OPTION'));
    await expect(opening).rejects.toThrow(message);
    // Nothing stays open in a form that was refused.
    expect(await (await sequences.get('orders')).next()).toBeTypeOf('bigint');
  });

  it('takes a descending sequence that ends within 2^53, and a lowered end', async () => {
    const sequences = await factory({ start: 5, step: -1, min: 1, blockSize: 1 });
    expect(await (await sequences.get('orders', { as: 'number' })).next()).toBe(5);
    await sequences.define('more');
    await sequences.alter('more', { max: SAFE });
    expect(await (await sequences.get('more', { as: 'number' })).next()).toBe(1);
  });

  it('keeps digits when the end was raised meanwhile', async () => {
    const sequences = await factory({ start: SAFE, max: SAFE, blockSize: 1 });
    const orders = await sequences.get('orders', { as: 'number', prefetch: 0 });
    expect(await orders.next()).toBe(SAFE);
    await sequences.alter('orders', { max: 2n ** 60n });
    await expect(orders.next()).rejects.toThrow(named('UNSAFE_INTEGER'));
    await expect(orders.batch(1)).rejects.toThrow(named('UNSAFE_INTEGER'));
    expect(() => orders.take()).toThrow(named('UNSAFE_INTEGER'));
  });

  it("refuses 'number' for a source, whose end is not known", async () => {
    const sequences = await factory();
    const opening = sequences.get('native', { source: new TestSource(), as: 'number' });
    await expect(opening).rejects.toThrow("use as 'string', or nextNumber()");
    const texts = await sequences.get('native', { source: new TestSource(), as: 'string' });
    expect(await texts.next()).toBeTypeOf('string');
  });

  it('is one for a sequence that is open, also where it is left out', async () => {
    const sequences = await factory();
    const texts = await sequences.get('orders', { as: 'string' });
    expect(await sequences.get('orders', { as: 'string' })).toBe(texts);
    await expect(sequences.get('orders')).rejects.toThrow('open with another as');
    await texts.close();
    expect(await (await sequences.get('orders')).next()).toBeTypeOf('bigint');
  });

  it('must be known', async () => {
    const sequences = await factory();
    await expect(sequences.get('orders', { as: 'text' as 'string' })).rejects.toThrow(
      'as must be "bigint" or "string" or "number", not "text"',
    );
  });
});
