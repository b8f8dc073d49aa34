import { FlakeGenerator, type IdForm, layouts, memoryStore } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { NOW, named } from './set-up.ts';

const clock = () => new FakeClock(NOW);

describe('the option as', () => {
  it("is 'bigint' unless given", () => {
    const [one, two] = [new FlakeGenerator({ node: 1 }), new FlakeGenerator({ node: 1, as: 'bigint' })];
    expectTypeOf(one).toEqualTypeOf(two);
    expectTypeOf(one.next()).toEqualTypeOf<bigint>();
    expect(one.next()).toBeTypeOf('bigint');
  });

  it('gives the same ids as decimal digits', async () => {
    const texts = new FlakeGenerator({ node: 3, clock: clock(), as: 'string' });
    const ids = new FlakeGenerator({ node: 3, clock: clock() });
    expectTypeOf(texts.next).returns.toEqualTypeOf<string>();
    expectTypeOf(texts.batch).returns.toEqualTypeOf<string[]>();
    expectTypeOf(texts.nextAsync).returns.resolves.toEqualTypeOf<string>();
    expect(texts.next()).toBe(String(ids.next()));
    expect(texts.batch(3)).toEqual(ids.batch(3).map(String));
    expect(await texts.nextAsync()).toBe(String(await ids.nextAsync()));
    expect(texts.nextString()).toBe(ids.nextString());
  });

  it.each(['safe53', 'seconds53'] as const)('gives exact numbers with layouts.%s', async (name) => {
    const layout = layouts[name];
    const end = new FakeClock(layout.expires.getTime() - 400 * 86_400_000);
    const numbers = new FlakeGenerator({ node: layout.nodes - 1, layout, clock: end, as: 'number' });
    expectTypeOf(numbers.next).returns.toEqualTypeOf<number>();
    expectTypeOf(numbers.batch).returns.toEqualTypeOf<number[]>();
    const ids = [numbers.next(), ...numbers.batch(5), await numbers.nextAsync(), numbers.nextNumber()];
    for (const id of ids) expect(Number.isSafeInteger(id)).toBe(true);
    expect(ids.map((id) => layout.decode(id).sequence)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("refuses 'number' with a layout that passes 2^53", () => {
    const { jflake, seconds53 } = layouts;
    expect(() => new FlakeGenerator({ node: 1, as: 'number' })).toThrow(
      "as 'number' needs a layout of at most 53 bits, not 63: use layouts.safe53 or layouts.seconds53, or as 'string'",
    );
    expect(() => new FlakeGenerator({ node: 1, layout: jflake, as: 'number' })).toThrow(
      named('INVALID_OPTION'),
    );
    expect(() => new FlakeGenerator({ node: 1, layout: seconds53, as: 'text' as 'string' })).toThrow(
      'as must be "bigint" or "string" or "number", not "text"',
    );
  });

  it('goes with the handle into other threads', () => {
    const texts = new FlakeGenerator({ node: 3, clock: clock(), as: 'string' });
    const attached = FlakeGenerator.attach(structuredClone(texts.share()), { clock: clock() });
    expectTypeOf(attached.next()).toEqualTypeOf<string>();
    expect(BigInt(attached.next())).toBeGreaterThan(BigInt(texts.next()) - 2n);
    expect(attached.next()).toBeTypeOf('string');
  });

  it('holds for leased generators, and leaves nothing held when it is wrong', async () => {
    const store = memoryStore();
    const texts = await FlakeGenerator.lease(store, { namespace: 'orders', as: 'string' });
    expectTypeOf(texts.next()).toEqualTypeOf<string>();
    expect(texts.next()).toMatch(/^\d{18,19}$/);
    await texts.close();
    await expect(FlakeGenerator.lease(store, { namespace: 'orders', as: 'number' })).rejects.toThrow(
      named('INVALID_OPTION'),
    );
    const held = (await store.listLeases('orders')).filter(({ id, owner }) => id >= 0 && owner !== null);
    expect(held).toEqual([]);
  });

  it('that is known only at run time gives the union of the types', () => {
    const generator = new FlakeGenerator({ node: 3, as: 'string' as IdForm });
    expectTypeOf(generator.next()).toEqualTypeOf<bigint | string | number>();
  });
});

describe('layouts.seconds53', () => {
  it('has 1,024 nodes for more than 60 years', () => {
    const { seconds53 } = layouts;
    expect(seconds53.bits).toBe(53);
    expect(seconds53.nodes).toBe(1024);
    expect(seconds53.expires.getUTCFullYear() - 2026).toBeGreaterThanOrEqual(60);
  });

  it('gives 4,096 ids in a second, and goes on in the next', () => {
    const time = clock();
    const ids = new FlakeGenerator({ node: 1, layout: layouts.seconds53, clock: time });
    const first = ids.batch(4096);
    expect(new Set(first.map((id) => layouts.seconds53.decode(id).timestamp))).toEqual(new Set([NOW]));
    time.advance(1000);
    expect(layouts.seconds53.decode(ids.next())).toMatchObject({ timestamp: NOW + 1000, sequence: 0 });
  });
});
