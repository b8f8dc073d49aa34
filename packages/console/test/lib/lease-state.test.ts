import { describe, expect, it } from 'vitest';
import { claimed, released, renewed } from '../../../idsmith/src/lease/protocol.ts';
import type { LeaseJson } from '../../src/api/types.ts';
import { countStates, guessSize, viewOf, viewsOf } from '../../src/lib/lease-state.ts';
import { rowsBetween, withWindows } from '../../src/lib/lease-windows.ts';

const NOW = 1_800_000_000_000;
const TTL = 30_000;

/** A record as the protocol makes it. */
function held(id: number, label = 'web 1', now = NOW, record?: LeaseJson): LeaseJson {
  const candidate = { id, record, readyAt: record?.fence ?? 0 };
  return claimed(candidate, now, { owner: 'x', label, ttl: TTL, maxSkew: 0 });
}

describe('the state of a node id', () => {
  it('is held until it expires, and then expired', () => {
    const record = held(3);
    expect(viewOf(3, record, NOW)).toEqual({ id: 3, state: 'held', record, left: 30 });
    expect(viewOf(3, record, NOW + TTL)).toMatchObject({ state: 'expired', left: 0 });
  });

  it('is free when it was never used, or was released', () => {
    expect(viewOf(3, undefined, NOW).state).toBe('free');
    expect(viewOf(3, released(held(3), NOW, NOW + 5), NOW + 10).state).toBe('free');
  });

  it('is fenced as long as its next window cannot begin', () => {
    const record = released(held(3), NOW, NOW + 9999);
    expect(viewOf(3, record, NOW)).toMatchObject({ state: 'fenced', left: 10 });
    expect(viewOf(3, record, NOW + 10_000).state).toBe('free');
  });

  it('is fenced for all while a store that can forget waits', () => {
    const birth = { id: -1, owner: 'x', epoch: 0, fence: NOW + 5000, expiresAt: 0, label: 'namespace' };
    expect(viewsOf([birth], NOW, 0, 2).map(({ state }) => state)).toEqual(['fenced', 'fenced']);
    expect(countStates([birth], NOW, 16)).toEqual({ free: 0, held: 0, expired: 0, fenced: 16 });
  });

  it('is that of node ids only: records of the namespace itself are none', () => {
    const layout = { id: -2, owner: null, epoch: 0, fence: 0, expiresAt: 0, label: 'a layout' };
    const birth = { ...layout, id: -1, owner: 'x', fence: NOW - 1 };
    const records = [layout, birth, held(0)];
    expect(viewsOf(records, NOW, 0, 2).map(({ state }) => state)).toEqual(['held', 'free']);
    expect(countStates(records, NOW, 4)).toEqual({ free: 3, held: 1, expired: 0, fenced: 0 });
    expect(guessSize('mine', undefined, records)).toBe(16);
    expect([...withWindows(undefined, records, NOW).values()].map(({ id }) => id)).toEqual([0]);
  });

  it('is counted, with those that were never used', () => {
    const records = [held(0), held(1, 'x', NOW - TTL), released(held(2), NOW, NOW + 99)];
    expect(countStates(records, NOW, 512)).toEqual({ free: 509, held: 1, expired: 1, fenced: 1 });
  });
});

describe('the size of a namespace', () => {
  it.each([
    ['jflake', undefined, [], 512],
    ['mine', 'snowflake', [], 1024],
    ['locality', undefined, [], 65_536],
    ['mine', undefined, [], 16],
    ['mine', undefined, [held(40)], 64],
    // Somebody has more of them than the preset.
    ['safe53', undefined, [held(700)], 1024],
  ])('%s of layout %s', (namespace, layout, records, size) => {
    expect(guessSize(namespace, layout, records)).toBe(size);
  });
});

describe('the windows that were seen', () => {
  it('follow a holder as it renews, and the next one after it', () => {
    const first = held(0, 'web 1');
    const later = renewed(first, NOW + 10_000, TTL, 'web 1 again');
    const gone = released(later, NOW, NOW + 15_000);
    const second = held(0, 'web 2', NOW + 16_000, gone);
    const history = [first, later, gone, second].reduce(
      (last, record, i) => withWindows(last, [record], NOW + [0, 10_000, 15_500, 16_000][i]!),
      withWindows(undefined, [], NOW - 1000),
    );
    const [row] = rowsBetween(history, NOW - 60_000, NOW + 60_000);
    expect(row?.windows).toEqual([
      {
        ...{ id: 0, epoch: 1, label: 'web 1', from: NOW, isFromKnown: true },
        until: NOW + 15_001,
        isReleased: true,
      },
      {
        ...{ id: 0, epoch: 2, label: 'web 2', from: NOW + 16_000, isFromKnown: true },
        until: NOW + 46_000,
        isReleased: false,
      },
    ]);
  });

  it('have no known beginning if they were there at the first look', () => {
    const history = withWindows(undefined, [held(0)], NOW);
    expect([...history.values()][0]?.isFromKnown).toBe(false);
  });

  it('are not those that had ended before', () => {
    const old = { ...held(0), fence: NOW - 1, expiresAt: NOW - 1 };
    expect(withWindows(undefined, [old], NOW).size).toBe(0);
  });

  it('are forgotten some minutes after their end', () => {
    const history = withWindows(undefined, [held(0)], NOW);
    expect(withWindows(history, [], NOW + TTL + 299_000).size).toBe(1);
    expect(withWindows(history, [], NOW + TTL + 301_000).size).toBe(0);
  });
});
