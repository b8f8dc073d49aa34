import { type LeaseRecord, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { eventsOf, meanwhile, setUp, TTL } from './set-up.ts';

/** A question to the store that is answered when the test says so. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('a namespace in a store that can forget', () => {
  it('is given up when the store refuses its record again and again', async () => {
    let refused = 0;
    const { time, lease } = setUp({
      durable: false,
      swapLease: async () => {
        refused++;
        return false;
      },
    });
    const outcome = meanwhile(time, lease(), 20_000);
    await expect(outcome).rejects.toThrow('refused them 12 times');
    expect(refused).toBe(12);
  });
});

describe('a store that was replaced', () => {
  it('ends the window at once', async () => {
    const { time, store, lease } = setUp();
    const held = await lease({ reacquire: false });
    const seen = eventsOf(held);
    store.now = async () => {
      throw new StoreError('another file', { isReplaced: true });
    };
    await time.advance(TTL / 2);
    expect(held.state).toBe('fenced');
    expect(held.until).toBe(held.from);
    expect(seen.slice(0, 2)).toEqual(['fenced', 'renewal-failed']);
  });
});

describe('a window that is ended during a renewal', () => {
  it('is replaced once, though its node id has a new holder', async () => {
    const { time, store, inner, lease } = setUp();
    const held = await lease();
    const { opened, open } = gate();
    const [record] = (await inner.listLeases('test')) as [LeaseRecord];
    const { epoch, fence } = record;
    await inner.swapLease('test', record, { ...record, owner: 'new', epoch: epoch + 1, fence: fence + 1 });
    let isAsked = false;
    let claims = 0;
    store.readLeases = async (...question) => {
      isAsked = true;
      await opened;
      return (await inner.readLeases?.(...question)) ?? [];
    };
    store.swapLease = (...question) => {
      if (question[2].owner !== null && question[2].epoch === 1 && question[2].id > 0) claims++;
      return inner.swapLease(...question);
    };
    for (let ms = 0; !isAsked && ms < TTL / 2; ms += 100) await time.advance(100);
    expect(isAsked).toBe(true);
    held.fence();
    open();
    await time.advance(1000);
    expect(claims).toBe(1);
    expect([held.state, held.id]).toEqual(['active', 1]);
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
