import { type LeaseRecord, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { layoutOf } from '../../src/lease/protocol.ts';
import { bindLease } from '../../src/lease/window.ts';
import { meanwhile, setUp, TTL } from './set-up.ts';

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

describe('a layout that was written while the lease was replaced without it', () => {
  it('is written again, because the new namespace may not have it', async () => {
    const { time, store, inner, lease } = setUp();
    const held = await lease();
    const [record] = (await inner.listLeases('test')) as [LeaseRecord];
    const { epoch, fence } = record;
    await inner.swapLease('test', record, { ...record, owner: 'new', epoch: epoch + 1, fence: fence + 1 });
    let open: (() => void) | undefined;
    let isLost = false;
    // The acquisition lists the namespace, and a holder whose record has changed lists it, too.
    store.listLeases = async (namespace) => {
      const records = await inner.listLeases(namespace);
      if (records.some(({ owner }) => owner === 'new') && open === undefined && isAsked++ > 0)
        await new Promise<void>((resolve) => {
          open = resolve;
        });
      return records;
    };
    let isAsked = 0;
    // The store acknowledges the first layout, and loses it.
    store.swapLease = async (...question) => {
      if (question[2].id >= 0 || isLost) return inner.swapLease(...question);
      isLost = true;
      return true;
    };
    for (let ms = 0; open === undefined && ms < TTL / 2; ms += 100) await time.advance(100);
    held[bindLease]({ nodes: 8, layout: 'a', move: () => {}, close: () => -1 });
    await time.advance(10);
    expect(isLost).toBe(true);
    open?.();
    await time.advance(TTL / 2);
    expect(held.id).toBe(1);
    expect(layoutOf(await inner.listLeases('test'))).toBe('a');
  });
});
