import { describe, expect, it } from 'vitest';
import { released } from '../../../idsmith/src/lease/protocol.ts';
import { countStates, guessSize, viewOf, viewsOf } from '../../src/lib/lease-state.ts';
import { withWindows } from '../../src/lib/lease-windows.ts';
import { held, NOW, TTL } from '../support/lease-records.ts';

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
    expect(countStates([birth], NOW, 16)).toEqual({ free: 0, held: 0, expired: 0, fenced: 16, odd: 0 });
  });

  it('is that of node ids only: records of the namespace itself are none', () => {
    const layout = { id: -2, owner: null, epoch: 0, fence: 0, expiresAt: 0, label: 'a layout' };
    const birth = { ...layout, id: -1, owner: 'x', fence: NOW - 1 };
    const records = [layout, birth, held(0)];
    expect(viewsOf(records, NOW, 0, 2).map(({ state }) => state)).toEqual(['held', 'free']);
    expect(countStates(records, NOW, 4)).toEqual({ free: 3, held: 1, expired: 0, fenced: 0, odd: 0 });
    expect(guessSize('mine', undefined, records)).toBe(16);
    expect([...withWindows(undefined, records, NOW).values()].map(({ id }) => id)).toEqual([0]);
  });

  it('is counted, with those that were never used', () => {
    const records = [held(0), held(1, 'x', NOW - TTL), released(held(2), NOW, NOW + 99)];
    expect(countStates(records, NOW, 512)).toEqual({ free: 509, held: 1, expired: 1, fenced: 1, odd: 0 });
  });
});

describe('a range of node ids', () => {
  it('is counted from its lowest one, without records outside of it', () => {
    const records = [held(0), held(256), held(300, 'x', NOW - TTL), held(512)];
    expect(countStates(records, NOW, 256, 256)).toEqual({
      free: 254,
      held: 1,
      expired: 1,
      fenced: 0,
      odd: 0,
    });
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
