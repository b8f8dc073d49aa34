import type { LeaseStore } from 'idsmith';
import { defineLayout, FlakeGenerator, type LeaseRecord, LocalityGenerator, memoryStore } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { NamespaceLayout, NamespaceRefusal } from '../../src/lease/namespace-store.ts';
import { layoutOf, layoutRecord } from '../../src/lease/protocol.ts';
import { bindLease } from '../../src/lease/window.ts';
import { eventsOf, named, setUp, TTL } from './set-up.ts';

const user = (layout?: string) => ({
  nodes: 8,
  move: () => {},
  close: () => -1,
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
    await layout.keep();
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
    await layout.keep();
    expect(layout.isPending).toBe(false);
  });

  it('is in conflict with another one, and not with none', async () => {
    const { layout, inner, store } = layoutWith(undefined);
    layout.adopt('a');
    store.swapLease = async () => false;
    await layout.keep();
    const other = layoutWith(undefined, undefined, store).layout;
    await inner.swapLease('test', undefined, layoutRecord('b'));
    other.adopt('a');
    await expect(other.keep()).rejects.toThrow(NamespaceRefusal);
    await expect(other.keep()).rejects.toThrow('has ids of the layout "b", not "a"');
    expect(other.isPending).toBe(true);
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

const EPOCH = Date.UTC(2024, 0, 1);

const wide = defineLayout({ epoch: EPOCH, timeBits: 41, nodeBits: 9, sequenceBits: 13 });

const narrow = defineLayout({ epoch: EPOCH, timeBits: 41, nodeBits: 10, sequenceBits: 12 });

describe('the layout of a namespace', () => {
  it('is the first one, and another is refused before anything is held', async () => {
    const { store, lease } = setUp();
    await lease({ layout: wide });
    await lease({ layout: wide });
    const refused = lease({ layout: narrow });
    await expect(refused).rejects.toThrow(named('INVALID_OPTION'));
    await expect(refused).rejects.toThrow(/has ids of the layout ".*node:9.*", not ".*node:10/);
    expect((await store.listLeases('test')).filter(({ owner }) => owner !== null)).toHaveLength(2);
  });

  it('is compared when a lease is bound that was acquired without one', async () => {
    const { time, lease } = setUp();
    await lease({ layout: wide });
    const held = await lease();
    expect(() => new FlakeGenerator({ node: held, layout: narrow })).toThrow(named('INVALID_OPTION'));
    expect(() => new FlakeGenerator({ node: held, layout: wide, clock: time.clock() })).not.toThrow();
  });

  it('is remembered from the first generator on that is bound', async () => {
    const { time, store, lease } = setUp();
    const clock = time.clock();
    const ids = new FlakeGenerator({ node: await lease(), layout: wide, clock });
    ids.next();
    await time.advance(1);
    expect(await store.listLeases('test')).toContainEqual(
      expect.objectContaining({ id: -2, label: wide.fingerprint }),
    );
    await expect(lease({ layout: narrow })).rejects.toThrow(named('INVALID_OPTION'));
    const other = await lease();
    expect(() => new FlakeGenerator({ node: other, layout: narrow, clock })).toThrow(named('INVALID_OPTION'));
  });

  it('ends the lease of whoever named another one at the same moment', async () => {
    const { time, lease } = setUp();
    const clock = time.clock();
    const [a, b] = [await lease(), await lease()];
    const seen = eventsOf(b);
    const failures: unknown[] = [];
    b.on('renewal-failed', (error) => failures.push(error));
    const first = new FlakeGenerator({ node: a, layout: wide, clock });
    const second = new FlakeGenerator({ node: b, layout: narrow, clock });
    await time.advance(1);
    expect(seen).toEqual(['fenced', 'renewal-failed']);
    expect(failures).toEqual([named('INVALID_OPTION')]);
    expect(() => second.next()).toThrow(named('LEASE_FENCED'));
    await time.advance(3 * TTL);
    expect(() => second.next()).toThrow(named('LEASE_FENCED'));
    expect(() => first.next()).not.toThrow();
  });

  it('is not asked of locality generators, whose ids are others', async () => {
    const { time, store, lease } = setUp();
    const clock = time.clock();
    new LocalityGenerator({ node: await lease(), clock }).next();
    await time.advance(TTL);
    expect((await store.listLeases('test')).map(({ id }) => id)).toEqual([0]);
    expect(() => new FlakeGenerator({ node: lease as never, layout: wide, clock })).toThrow();
    const held = await lease();
    expect(() => new FlakeGenerator({ node: held, layout: wide, clock })).not.toThrow();
  });

  it('is checked again when a lost lease is replaced', async () => {
    const { time, inner, lease } = setUp();
    const clock = time.clock();
    const held = await lease();
    const ids = new FlakeGenerator({ node: held, layout: wide, clock });
    await time.advance(1);
    // The store is emptied by hand, and others begin in it with another layout.
    const emptied = memoryStore();
    inner.listLeases = emptied.listLeases;
    inner.swapLease = emptied.swapLease;
    await lease({ layout: narrow });
    await time.advance(2 * TTL);
    expect(held.state).toBe('fenced');
    expect(() => ids.next()).toThrow(named('LEASE_FENCED'));
  });
});

describe('a layout that was written while the lease was replaced without it', () => {
  it('is written again, because the new namespace may not have it', async () => {
    const { time, store, inner, state, lease } = setUp();
    // The clock is behind, so that the window has some time left when the store takes the lease for ended.
    const held = await lease({ clock: time.clock(-9000) });
    state.down = true;
    await time.advance(held.until - time.now);
    state.down = false;
    const [record] = (await inner.listLeases('test')) as [LeaseRecord];
    const fence = record.fence + TTL;
    await inner.swapLease('test', record, { ...record, owner: 'new', epoch: 2, fence, expiresAt: fence });
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
