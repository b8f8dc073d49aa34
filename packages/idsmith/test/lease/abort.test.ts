import { StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { named, setUp, TTL } from './set-up.ts';

const reason = new Error('shutting down');

describe('a signal of acquireLease', () => {
  it('refuses at once when it is aborted already', async () => {
    const { store, lease } = setUp();
    await expect(lease({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(await store.listLeases('test')).toEqual([]);
  });

  it('ends the wait for a fence ahead, and the wait takes nothing later', async () => {
    const { time, store, lease } = setUp();
    const ahead = time.now + 20_000;
    const record = { id: 0, owner: null, epoch: 1, fence: ahead, expiresAt: 0, label: '' };
    await store.swapLease('test', undefined, record);
    const controller = new AbortController();
    const wait = lease({ size: 1, signal: controller.signal });
    wait.catch(() => undefined);
    await time.advance(1000);
    controller.abort(reason);
    await expect(wait).rejects.toBe(reason);
    await time.advance(60_000);
    expect(await store.listLeases('test')).toEqual([record]);
  });

  it('ends a question that the store never answers', async () => {
    const { lease } = setUp({ listLeases: () => new Promise(() => {}) });
    const controller = new AbortController();
    const wait = lease({ signal: controller.signal });
    controller.abort(reason);
    await expect(wait).rejects.toBe(reason);
  });

  it('frees a node id whose claim was on its way', async () => {
    const { store, inner, lease } = setUp();
    const controller = new AbortController();
    store.swapLease = async (...args) => {
      const done = await inner.swapLease(...args);
      controller.abort(reason);
      return done;
    };
    await expect(lease({ signal: controller.signal })).rejects.toBe(reason);
    expect(await store.listLeases('test')).toMatchObject([{ id: 0, owner: null }]);
  });

  it('leaves a node id whose layout could not be written to expire, because a copy of the process may use it', async () => {
    const { time, store, inner, lease } = setUp();
    store.swapLease = async (namespace, expected, next) => {
      if (next.id < 0) throw new StoreError('away');
      return inner.swapLease(namespace, expected, next);
    };
    const layout = { nodes: 3, fingerprint: 'a layout' };
    await expect(lease({ layout })).rejects.toThrow('away');
    const until = time.now + TTL;
    expect(await store.listLeases('test')).toMatchObject([
      { id: 0, owner: expect.any(String), fence: until, expiresAt: until },
    ]);
  });

  it('is the reason also when the store fails to free the node id', async () => {
    const { store, inner, lease } = setUp();
    const controller = new AbortController();
    store.swapLease = async (...args) => {
      if (controller.signal.aborted) throw new StoreError('away');
      controller.abort(reason);
      return inner.swapLease(...args);
    };
    await expect(lease({ signal: controller.signal })).rejects.toBe(reason);
  });

  it('does not matter once the lease is there', async () => {
    const { time, lease } = setUp();
    const controller = new AbortController();
    const held = await lease({ signal: controller.signal });
    controller.abort(reason);
    held.fence();
    await time.advance(1000);
    expect(held.state).toBe('active');
  });

  it('must be an AbortSignal', async () => {
    await expect(setUp().lease({ signal: {} as never })).rejects.toThrow(named('INVALID_OPTION'));
  });
});
