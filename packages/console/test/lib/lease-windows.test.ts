import { describe, expect, it } from 'vitest';
import { released, renewed } from '../../../idsmith/src/lease/protocol.ts';
import { rowsBetween, withWindows } from '../../src/lib/lease-windows.ts';
import { held, NOW, TTL } from '../support/lease-records.ts';

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
        id: 0,
        epoch: 1,
        label: 'web 1',
        from: NOW,
        isFromKnown: true,
        until: NOW + 15_001,
        isReleased: true,
      },
      {
        id: 0,
        epoch: 2,
        label: 'web 2',
        from: NOW + 16_000,
        isFromKnown: true,
        until: NOW + 46_000,
        isReleased: false,
      },
    ]);
  });

  it('have no known start if they were already open at first', () => {
    const history = withWindows(undefined, [held(0)], NOW);
    expect([...history.values()][0]?.isFromKnown).toBe(false);
  });

  it('exclude windows that had ended before', () => {
    const old = { ...held(0), fence: NOW - 1, expiresAt: NOW - 1 };
    expect(withWindows(undefined, [old], NOW).size).toBe(0);
  });

  it('are dropped some minutes after their end', () => {
    const history = withWindows(undefined, [held(0)], NOW);
    expect(withWindows(history, [], NOW + TTL + 299_000).size).toBe(1);
    expect(withWindows(history, [], NOW + TTL + 301_000).size).toBe(0);
  });
});
