import { acquireLease, FlakeGenerator, type LeaseRecord, layouts, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { eventsOf, meanwhile, named, setUp, TTL } from './set-up.ts';

describe('release', () => {
  it('ends minting at once, and is done once', async () => {
    const { time, store, lease } = setUp();
    const held = await lease();
    const seen = eventsOf(held);
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    generator.next();
    const promise = held.release();
    expect(held.state).toBe('released');
    expect(() => generator.next()).toThrow(named('CLOSED'));
    await promise;
    await held.release();
    expect(seen).toEqual(['released']);
    await time.advance(10 * TTL);
    expect((await store.listLeases('test'))[0]).toMatchObject({ owner: null, epoch: 1 });
  });

  it('keeps the fence at its own beginning when nothing was minted', async () => {
    const { store, lease } = setUp();
    const held = await lease();
    await held.release();
    expect((await store.listLeases('test'))[0]?.fence).toBe(held.from);
  });

  it('ends when nothing is held, also while the lease is being replaced', async () => {
    const { time, store, inner, lease } = setUp();
    const held = await lease();
    let answer = () => {};
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    store.swapLease = async (...args) => {
      const done = await inner.swapLease(...args);
      if (args[2].owner !== null) await gate;
      return done;
    };
    held.fence();
    await time.advance(1000);
    const owners = async () => (await store.listLeases('test')).map(({ owner }) => owner);
    expect(await owners()).toEqual([null, expect.any(String)]);
    let atEnd: unknown;
    const released = held.release().then(async () => {
      atEnd = await owners();
    });
    await time.advance(1000);
    answer();
    await released;
    expect(atEnd).toEqual([null, null]);
  });

  it('does not wait for a replacement that waits', async () => {
    const { time, store, lease } = setUp();
    const held = await lease({ size: 1 });
    const { fence } = (await store.listLeases('test'))[0] as LeaseRecord;
    held.fence();
    await time.advance(1000);
    await held.release();
    expect(time.now).toBeLessThan(fence);
    await time.advance(10 * TTL);
    expect((await store.listLeases('test'))[0]).toMatchObject({ owner: null, epoch: 1 });
  });

  it('finds the record that a renewal has moved on without telling', async () => {
    const { time, store, inner, lease } = setUp();
    let lose = false;
    store.swapLease = async (...args) => {
      const done = await inner.swapLease(...args);
      if (lose) throw new StoreError('cut off');
      return done;
    };
    const held = await lease();
    lose = true;
    await time.advance(TTL / 2);
    lose = false;
    await held.release();
    expect((await store.listLeases('test'))[0]).toMatchObject({ owner: null, fence: held.from });
  });

  it('ends minting in threads too', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    const attached = FlakeGenerator.attach(generator.share(), { clock: time.clock() });
    attached.next();
    await held.release();
    expect(() => attached.next()).toThrow(named('CLOSED'));
  });

  it('fails with the store, and minting has ended all the same', async () => {
    const { time, state, lease } = setUp();
    const held = await lease();
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    state.down = true;
    await expect(held.release()).rejects.toThrow(named('STORE'));
    expect(() => generator.next()).toThrow(named('CLOSED'));
  });
});

describe('a window that begins within a tick', () => {
  it('is used from the next tick on', async () => {
    const { time, store } = setUp();
    const fence = layouts.sonyflake.timeOf(layouts.sonyflake.tickOf(time.now)) + 3;
    await store.swapLease('ticks', undefined, {
      id: 0,
      owner: null,
      epoch: 1,
      fence,
      expiresAt: 0,
      label: '',
    });
    const clock = time.clock(fence - time.now);
    const held = await acquireLease(store, { namespace: 'ticks', size: 1, timer: time, clock, maxSkew: 10 });
    expect(held.from).toBe(fence);
    const generator = new FlakeGenerator({ node: held, clock, layout: layouts.sonyflake });
    expect(layouts.sonyflake.decode(generator.next()).timestamp).toBe(fence + 7);
  });
});

describe('a lease in threads', () => {
  it('takes its window along, and each change of it', async () => {
    const { time, store, lease } = setUp();
    const held = await lease();
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    const attached = FlakeGenerator.attach(generator.share(), { clock: time.clock() });
    const first = attached.next();
    await time.advance(TTL + 1000);
    const second = attached.next();
    const [record] = await store.listLeases('test');
    await store.swapLease('test', record, { ...(record as LeaseRecord), owner: 'thief', epoch: 2 });
    await time.advance(TTL);
    const third = attached.next();
    expect([first, second, third].map((id) => layouts.jflake.decode(id).node)).toEqual([0, 0, 1]);
    expect(first < second && second < third).toBe(true);
  });
});

describe('the fence of a window that was ended', () => {
  it('stays where it is, whenever the lease is released: a copy of the process may use the window', async () => {
    for (let steps = 0; steps < 40; steps++) {
      const { time, store, inner, lease } = setUp();
      const held = await lease();
      const [before] = (await inner.listLeases('test')) as [LeaseRecord];
      let releasing: Promise<void> | undefined;
      let isAway = true;
      store.swapLease = async (...question) => {
        if (question[2].id === 0 && isAway) throw new StoreError('away');
        const isDone = await inner.swapLease(...question);
        isAway = false;
        if (question[2].owner !== null) void release();
        return isDone;
      };
      const release = async () => {
        for (let i = 0; i < steps; i++) await undefined;
        releasing ??= held.release();
      };
      held.fence();
      await time.advance(1000);
      await meanwhile(time, releasing as unknown as Promise<void>, 2000);
      const [after] = (await inner.listLeases('test')) as [LeaseRecord];
      expect(after).toEqual(before);
    }
  });
});

describe('a lease that is released while it is replaced', () => {
  it('holds nothing at the end, in whichever moment that is', async () => {
    let met = 0;
    for (let steps = 0; steps < 40; steps++) {
      const { time, store, inner, lease } = setUp();
      const held = await lease();
      let releasing: Promise<void> | undefined;
      let owners: unknown;
      store.swapLease = async (...question) => {
        if (question[2].owner === null) await new Promise<void>((resolve) => time.after(10, resolve));
        const isDone = await inner.swapLease(...question);
        if (question[2].owner !== null) void release();
        return isDone;
      };
      const release = async () => {
        for (let i = 0; i < steps; i++) await undefined;
        if (held.state === 'active') met++;
        releasing ??= held.release().then(async () => {
          owners = (await inner.listLeases('test')).map(({ owner }) => owner);
        });
      };
      held.fence();
      await time.advance(1000);
      await meanwhile(time, releasing as unknown as Promise<void>, 2000);
      expect(owners).toEqual([null, null]);
    }
    // The last ones come too late: the lease has its new window.
    expect(met).toBeGreaterThan(0);
    expect(met).toBeLessThan(40);
  });
});
