import { getEventListeners } from 'node:events';
import { FlakeGenerator } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { LeaseWaiters } from '../../src/lease/waiters.ts';
import { meanwhile, named, setUp, TTL } from './set-up.ts';

/** A lease whose window has ended because its store is down. */
async function fencedLease() {
  const parts = setUp();
  const held = await parts.lease();
  parts.state.down = true;
  await parts.time.advance(TTL + 1);
  expect(held.state).toBe('fenced');
  return { ...parts, held };
}

describe('whenActive', () => {
  it('resolves at once while the lease is active', async () => {
    const { lease } = setUp();
    await (await lease()).whenActive();
  });

  it('resolves when a renewal succeeds again, and ids come out then', async () => {
    const { time, state, held } = await fencedLease();
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
    const all = Promise.all([held.whenActive(), held.whenActive({ timeout: 10 * TTL })]);
    state.down = false;
    await meanwhile(time, all);
    expect(held.state).toBe('active');
    generator.next();
  });

  it('resolves when the lease has another node id', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    held.fence();
    expect(held.state).toBe('fenced');
    await meanwhile(time, held.whenActive());
    expect(held).toMatchObject({ state: 'active', id: 1 });
  });

  it('is a LeaseFencedError after the timeout', async () => {
    const { time, held } = await fencedLease();
    const wait = held.whenActive({ timeout: 500 });
    await expect(meanwhile(time, wait)).rejects.toThrow('did not become active within 500 ms');
    await expect(wait).rejects.toThrow(named('LEASE_FENCED'));
  });

  it('rejects with the reason of the signal', async () => {
    const { held } = await fencedLease();
    const controller = new AbortController();
    const wait = held.whenActive({ signal: controller.signal });
    const reason = new Error('shutting down');
    controller.abort(reason);
    await expect(wait).rejects.toBe(reason);
    await expect(held.whenActive({ signal: controller.signal })).rejects.toBe(reason);
  });

  it('rejects when the lease is released, also meanwhile and with the store down', async () => {
    const { held } = await fencedLease();
    const wait = held.whenActive();
    const release = held.release();
    await expect(wait).rejects.toThrow('released');
    await expect(held.whenActive()).rejects.toThrow(named('CLOSED'));
    await release.catch(() => undefined);
  });

  it.each([{ timeout: 0 }, { timeout: '5' }, { signal: 1 }, { signall: undefined }])(
    'refuses %o',
    async (options) => {
      const held = await setUp().lease();
      await expect(held.whenActive(options as never)).rejects.toThrow(named('INVALID_OPTION'));
    },
  );
});

describe('a lease that ends', () => {
  it.each(['close', Symbol.asyncDispose] as const)('is released by %s', async (method) => {
    const { store, lease } = setUp();
    const held = await lease();
    await held[method]();
    expect(held.state).toBe('released');
    expect((await store.listLeases('test'))[0]?.owner).toBeNull();
  });
});

/** A timer that notes what is asked of it. */
function notedTimer() {
  const set: { ms: number; fire(): void; background: boolean; isCancelled: boolean }[] = [];
  const after = (ms: number, fire: () => void, background: boolean) => {
    const timer = { ms, fire, background, isCancelled: false };
    set.push(timer);
    return () => {
      timer.isCancelled = true;
    };
  };
  return { set, timer: { after } };
}

describe('those who wait for a lease', () => {
  function waitersOf(state: 'active' | 'fenced' | 'released') {
    const { set, timer } = notedTimer();
    const lease = { namespace: 'a', state };
    return { set, lease, waiters: new LeaseWaiters(lease, timer) };
  }
  const settled = async (promise: Promise<void>) => {
    let outcome = 'waits';
    promise.then(
      () => {
        outcome = 'active';
      },
      (error: Error) => {
        outcome = error.message;
      },
    );
    for (let i = 0; i < 10; i++) await undefined;
    return outcome;
  };

  it('need neither timer nor signal if it is active', async () => {
    const { set, waiters } = waitersOf('active');
    const { signal } = new AbortController();
    expect(await settled(waiters.wait({ timeout: 5, signal }, false))).toBe('active');
    expect([set, getEventListeners(signal, 'abort')]).toEqual([[], []]);
    expect(await settled(waiters.wait({ signal: AbortSignal.abort(new Error('gone')) }, false))).toBe('gone');
  });

  it('let go of timer and signal when it becomes active', async () => {
    const { set, lease, waiters } = waitersOf('fenced');
    const { signal } = new AbortController();
    const waiting = waiters.wait({ timeout: 5, signal }, false);
    expect(await settled(waiting)).toBe('waits');
    lease.state = 'active';
    waiters.wake();
    expect(await settled(waiting)).toBe('active');
    expect(set.map(({ ms, isCancelled }) => [ms, isCancelled])).toEqual([[5, true]]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('wait for the next window, even if this one is active, and not if it was released', async () => {
    const { waiters } = waitersOf('active');
    const waiting = waiters.wait({}, true);
    expect(await settled(waiting)).toBe('waits');
    waiters.wake();
    expect(await settled(waiting)).toBe('active');
    expect(await settled(waitersOf('released').waiters.wait({}, true))).toContain('was released');
  });
});
