import { FlakeGenerator, type LeasedFlakeOptions, layouts, type Store } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { meanwhile, named, setUp, TTL } from '../lease/set-up.ts';

function leasing() {
  const parts = setUp();
  const make = (options: Partial<LeasedFlakeOptions> = {}) =>
    FlakeGenerator.lease(parts.store, {
      namespace: 'orders',
      clock: parts.time.clock(),
      timer: parts.time,
      ...options,
    });
  return { ...parts, make };
}

describe('FlakeGenerator.lease', () => {
  it('takes the number of node ids from the layout, and releases its lease', async () => {
    const { store, make } = leasing();
    const generator = await make({ layout: layouts.snowflake, label: 'host 1', onFull: 'borrow' });
    expect(generator.lease).toMatchObject({ namespace: 'orders', size: 1024, state: 'active' });
    expect(layouts.snowflake.decode(generator.next()).node).toBe(generator.lease?.id);
    const held = async () => (await store.listLeases('orders')).filter(({ owner, id }) => owner && id >= 0);
    expect(await held()).toMatchObject([{ label: 'host 1' }]);
    await generator.close();
    await generator.close();
    expect(await held()).toEqual([]);
    expect(() => generator.next()).toThrow(named('CLOSED'));
    await expect(generator.nextAsync()).rejects.toThrow(named('CLOSED'));
    await expect(generator.ready()).rejects.toThrow(named('CLOSED'));
  });

  it('refuses another layout for the namespace', async () => {
    const { make } = leasing();
    const generator = await make();
    await expect(make({ layout: layouts.snowflake })).rejects.toThrow(named('INVALID_OPTION'));
    await generator[Symbol.asyncDispose]();
    expect(generator.lease?.state).toBe('released');
  });

  it.each([{ size: 5 }, { node: 3 }, { layout: {} }, { namespace: '' }, { ttl: 1 }, { onFull: 'x' }])(
    'refuses %o and leaves nothing held',
    async (options) => {
      const { store, make } = leasing();
      await expect(make(options as never)).rejects.toThrow(named('INVALID_OPTION'));
      for (const { id, owner } of await store.listLeases('orders')) if (id >= 0) expect(owner).toBeNull();
    },
  );

  it('tells why it refuses an option, though the lease cannot be released', async () => {
    const { store, state, time } = setUp();
    const failing = FlakeGenerator.lease(store, {
      namespace: 'orders',
      clock: time.clock(),
      timer: time,
      get onFull(): never {
        // The option is read when the lease is held.
        state.down = true;
        return 'x' as never;
      },
    });
    await expect(meanwhile(time, failing)).rejects.toThrow('onFull must be');
  });

  it('refuses a store that is none, and rejects with the reason of a signal', async () => {
    await expect(FlakeGenerator.lease({} as Store, { namespace: 'a' })).rejects.toThrow('lease store');
    await expect(leasing().make({ signal: AbortSignal.abort('stop') })).rejects.toBe('stop');
  });
});

describe('nextAsync and ready', () => {
  it('wait where next() throws', async () => {
    const { time, state, make } = leasing();
    const generator = await make();
    const before = await generator.nextAsync();
    await generator.ready();
    state.down = true;
    await time.advance(TTL + 1);
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
    await expect(meanwhile(time, generator.ready({ timeout: 100 }))).rejects.toThrow(named('LEASE_FENCED'));
    const both = Promise.all([generator.nextAsync(), generator.ready()]);
    state.down = false;
    const [after] = await meanwhile(time, both);
    expect(after).toBeGreaterThan(before);
  });

  it('wait for the next window where the generator is at the end of an active one', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    const clock = time.clock(TTL + 5);
    const generator = new FlakeGenerator({ node: held, clock });
    expect(held.state).toBe('active');
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
    const wait = generator.nextAsync();
    clock.offset = 0;
    await meanwhile(time, wait);
  });

  it('end with the signal', async () => {
    const { time, state, make } = leasing();
    const generator = await make();
    state.down = true;
    await time.advance(TTL + 1);
    const controller = new AbortController();
    const waits = [
      generator.nextAsync({ signal: controller.signal }),
      generator.ready({ signal: controller.signal }),
    ];
    controller.abort('stop');
    for (const wait of waits) await expect(wait).rejects.toBe('stop');
    await expect(generator.nextAsync({ signal: controller.signal })).rejects.toBe('stop');
  });

  it('need no waiting with a fixed node', async () => {
    const generator = new FlakeGenerator({ node: 3 });
    expect(generator.lease).toBeUndefined();
    await generator.ready();
    expect(await generator.nextAsync()).toBeTypeOf('bigint');
    await expect(generator.ready({ timeuot: 5 } as never)).rejects.toThrow(named('INVALID_OPTION'));
    await expect(generator.nextAsync({ timeout: 5 } as never)).rejects.toThrow(named('INVALID_OPTION'));
  });

  it('leave a lease that the caller acquired to the caller', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    expect(generator.lease).toBe(held);
    await generator.close();
    expect(held.state).toBe('active');
  });
});
