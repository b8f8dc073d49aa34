import type { LeaseStore } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { NamespaceLayout } from '../../src/lease/namespace-layout.ts';
import { layoutOf, layoutRecord } from '../../src/lease/protocol.ts';
import { bindLease } from '../../src/lease/window.ts';
import { eventsOf, setUp, TTL } from './set-up.ts';

const user = (layout?: string) => ({
  ...{ nodes: 8, move: () => {}, close: () => -1 },
  ...(layout !== undefined && { layout }),
});

describe('the layout of a lease', () => {
  function layoutWith(given: string | undefined, remembered?: string, store?: LeaseStore) {
    const world = setUp();
    const settings = { store: store ?? world.store, namespace: 'test', timer: world.time, ttl: TTL };
    return { ...world, layout: new NamespaceLayout({ ...settings, layout: given } as never, remembered) };
  }

  it('is the one that was given or remembered, and nothing is pending then', () => {
    for (const [given, remembered, known] of [
      ['a', undefined, 'a'],
      ['a', 'a', 'a'],
      [undefined, 'b', 'b'],
      [undefined, undefined, undefined],
    ] as const) {
      const { layout } = layoutWith(given, remembered);
      expect([layout.fingerprint, layout.isPending]).toEqual([known, false]);
    }
  });

  it('is pending until the namespace has it, and again if a lease was acquired without it', async () => {
    const { layout, inner } = layoutWith(undefined);
    layout.adopt('a');
    expect([layout.fingerprint, layout.isPending]).toEqual(['a', true]);
    await layout.keep(() => expect.unreachable());
    expect([layoutOf(await inner.listLeases('test')), layout.isPending]).toEqual(['a', false]);
    layout.acquiredWith(undefined);
    expect(layout.isPending).toBe(true);
    layout.acquiredWith('a');
    expect(layout.isPending).toBe(false);
  });

  it('may be there already', async () => {
    const { layout, inner } = layoutWith(undefined);
    await inner.swapLease('test', undefined, layoutRecord('a'));
    layout.adopt('a');
    await layout.keep(() => expect.unreachable());
    expect(layout.isPending).toBe(false);
  });

  it('is in conflict with another one, and not with none', async () => {
    const { layout, inner, store } = layoutWith(undefined);
    layout.adopt('a');
    store.swapLease = async () => false;
    await layout.keep(() => expect.unreachable());
    const other = layoutWith(undefined, undefined, store).layout;
    await inner.swapLease('test', undefined, layoutRecord('b'));
    other.adopt('a');
    let conflicts = 0;
    await expect(other.keep(() => void conflicts++)).rejects.toThrow('has ids of the layout "b", not "a"');
    expect([conflicts, other.isPending]).toEqual([1, true]);
  });
});

describe('a generator', () => {
  it('without a layout takes a lease of any namespace', async () => {
    const { inner, lease } = setUp();
    await inner.swapLease('test', undefined, layoutRecord('a'));
    const held = await lease();
    expect(held[bindLease](user()).node).toBe(held.id);
  });

  it('writes its layout with the next renewal, if the store was away', async () => {
    const { time, inner, state, lease } = setUp();
    const held = await lease();
    const seen = eventsOf(held);
    state.down = true;
    held[bindLease](user('a'));
    await time.advance(10);
    state.down = false;
    expect([seen, layoutOf(await inner.listLeases('test'))]).toEqual([['renewal-failed'], undefined]);
    await time.advance(TTL / 2);
    expect(layoutOf(await inner.listLeases('test'))).toBe('a');
  });

  it('ends its window at the next renewal, if the namespace has got another layout meanwhile', async () => {
    const { time, inner, state, lease } = setUp();
    const held = await lease({ reacquire: false });
    state.down = true;
    held[bindLease](user('a'));
    await time.advance(10);
    state.down = false;
    await inner.swapLease('test', undefined, layoutRecord('b'));
    const seen = eventsOf(held);
    await time.advance(TTL / 2 - 100);
    expect(seen.slice(0, 2)).toEqual(['fenced', 'renewal-failed']);
    expect(seen).not.toContain('renewed');
  });

  it.each(['fence', 'release'] as const)('writes no layout after %s()', async (end) => {
    const { time, inner, lease } = setUp();
    const held = await lease({ reacquire: false });
    held[bindLease](user('a'));
    void held[end]();
    await time.advance(10);
    expect(layoutOf(await inner.listLeases('test'))).toBeUndefined();
  });
});
