import { describe, expect, it } from 'vitest';
import type { LeaseRecord } from '../../idsmith/src/lease/port.ts';
import {
  auditBlocks,
  auditIds,
  auditLeases,
  auditReadings,
  disorder,
  wrongTimes,
} from '../src/audit/audit.ts';
import { type Family, LAYOUT } from '../src/families.ts';
import { type Call, readRecords, recordBytes } from '../src/history/history.ts';
import { auditDifference } from '../src/runs/verify/behaviour.ts';

const held = (epoch: number, fence: number): LeaseRecord => ({
  id: 0,
  owner: `${epoch} ${fence}`,
  epoch,
  fence,
  expiresAt: fence,
  label: '',
});
const free = (epoch: number, fence: number): LeaseRecord => ({
  ...held(epoch, fence),
  owner: null,
  expiresAt: 0,
});

/** A call from `at` to `ended`. */
const call = (at: number, ended: number, name: string, args: unknown[], result: unknown, by = 'a'): Call => ({
  by,
  name,
  args,
  at,
  ended,
  result,
});
const swap = (
  at: number,
  ended: number,
  before: LeaseRecord | undefined,
  next: LeaseRecord,
  done = true,
  by = 'a',
) => call(at, ended, 'swapLease', ['n', before, next], done, by);
const list = (at: number, ended: number, ...records: LeaseRecord[]) =>
  call(at, ended, 'listLeases', ['n'], records);

const rules = (calls: Call[], quiet = true) =>
  auditLeases(calls, { quiet, guarded: false }).map(({ rule }) => rule);

describe('The audit of leases', () => {
  const [one, two, three] = [held(1, 100), held(1, 200), held(2, 300)];

  it('finds nothing in the life of a node id', () => {
    const over = free(1, 150);
    const calls = [
      list(0, 1),
      swap(2, 3, undefined, one),
      list(4, 5, one),
      swap(6, 7, one, two),
      swap(8, 9, two, over),
      list(10, 11, over),
      swap(12, 13, over, three),
      list(14, 15, three),
    ];
    expect(rules(calls)).toEqual([]);
  });

  it('lets a read at the time of a swap see either state, and a swap without an answer be done or not', () => {
    const lost: Call = { by: 'b', name: 'swapLease', args: ['n', one, two], at: 4 };
    expect(rules([swap(0, 3, undefined, one), list(2, 3), list(2, 3, one), lost, list(5, 6, two)])).toEqual(
      [],
    );
    expect(rules([swap(0, 1, undefined, one), lost, list(5, 6, one), list(7, 8, two)])).toEqual([]);
  });

  it('finds a change that was confirmed and forgotten', () => {
    const calls = [swap(0, 1, undefined, one), swap(2, 3, one, two), list(4, 5, one)];
    expect(rules(calls)).toEqual(['kept']);
    // Others went on from the older state.
    expect(rules([...calls, swap(6, 7, one, three), list(8, 9, three)])).toEqual(['kept']);
  });

  it('tells a late read from a forgotten change: the state comes back', () => {
    expect(
      rules([swap(0, 1, undefined, one), swap(2, 3, one, two), list(4, 5, one), list(6, 7, two)]),
    ).toEqual(['fresh']);
    expect(rules([swap(0, 1, undefined, one), list(2, 3), list(4, 5, one)])).toEqual(['fresh']);
  });

  it('finds a record that is gone', () => {
    expect(rules([swap(0, 1, undefined, one), list(2, 3), swap(4, 5, undefined, held(1, 900))])).toEqual([
      'present',
    ]);
  });

  it('finds a swap of a record that was no longer there, and two at once from the same one', () => {
    expect(rules([swap(0, 1, undefined, one), swap(2, 3, one, two), swap(4, 5, one, three)])).toEqual([
      'compared',
    ]);
    expect(
      rules([swap(0, 1, undefined, one), swap(2, 9, one, two), swap(3, 8, one, three, true, 'b')]),
    ).toEqual(['compared']);
  });

  it('finds a record that nobody has written', () => {
    expect(rules([swap(0, 1, undefined, one), list(2, 3, { ...one, fence: 101 })])).toEqual(['exact']);
    const guarded = auditLeases([swap(0, 1, undefined, one), list(2, 3, { ...one, fence: 101 })], {
      quiet: true,
      guarded: true,
    });
    expect(guarded).toEqual([]);
  });

  it('finds a swap that was refused and done, where no fault explains it', () => {
    const calls = [swap(0, 1, undefined, one, false), list(2, 3, one)];
    expect(rules(calls)).toEqual(['once']);
    expect(rules(calls, false)).toEqual([]);
  });
});

describe('The audit of sequences', () => {
  const take = (at: number, first: number, count: number) =>
    call(at, at + 1, 'allocate', ['s', 1], { first: BigInt(first), step: 1, count });
  const giveBack = (at: number, first: number, count: number) =>
    call(at, at + 1, 'giveBack', ['s', { first: BigInt(first), step: 1, count }], true);
  const found = (calls: Call[], quiet = false) => auditBlocks(calls, quiet).map(({ rule }) => rule);

  it('finds nothing where blocks follow each other, or ends went back', () => {
    expect(found([take(0, 1, 5), take(2, 6, 5)], true)).toEqual([]);
    expect(found([take(0, 1, 5), giveBack(2, 4, 2), take(4, 4, 5)])).toEqual([]);
    expect(found([take(0, 1, 5), take(2, 6, 5), giveBack(4, 4, 7), take(6, 4, 5)])).toEqual([]);
  });

  it('finds ids that were given out twice', () => {
    expect(found([take(0, 1, 5), take(2, 5, 5)])).toEqual(['kept']);
    expect(found([take(0, 1, 5), take(0, 1, 5)])).toEqual(['compared']);
  });

  it('finds ids that nobody asked for, where no fault explains them', () => {
    expect(found([take(0, 1, 5), take(2, 11, 5)], true)).toEqual(['once']);
    expect(found([take(0, 1, 5), take(2, 11, 5)])).toEqual([]);
  });

  it('finds a sequence that stands before ids which were given out', () => {
    expect(found([take(0, 1, 5), call(2, 3, 'describeSequence', ['s'], { next: '6' })])).toEqual([]);
    expect(found([take(0, 1, 5), call(2, 3, 'describeSequence', ['s'], { next: '1' })])).toEqual(['kept']);
  });
});

describe('The audit of ids', () => {
  const at = Date.UTC(2026, 0, 1);
  const flake = (node: number, sequence: number) => LAYOUT.encode({ timestamp: at, node, sequence });
  const records = (family: Family, source: number, ...ids: bigint[]) => [
    ...readRecords(recordBytes(family, source, ids, true)),
  ];

  it('finds every repetition, and moments of a node id that two processes used', () => {
    const minted = [
      ...records('flakes', 1, flake(1, 0), flake(1, 1)),
      ...records('flakes', 2, flake(2, 0), flake(1, 1)),
      ...records('sequences', 2, 7n, 8n, 7n),
      // The same number in another family is another id.
      ...records('keys', 3, 7n),
    ];
    const { duplicates, sharedMoments, findings } = auditIds(minted);
    expect({ duplicates, sharedMoments }).toEqual({ duplicates: 2, sharedMoments: 1 });
    expect(findings.map(({ detail }) => detail).slice(0, 2)).toEqual([
      `${flake(1, 1)} (flakes) was handed out by process 1 and by process 2`,
      '7 (sequences) was handed out by process 2 and by process 2',
    ]);
  });

  it('finds flakes of a generator that are not in order', () => {
    const [one, two] = [flake(1, 1), flake(1, 2)];
    expect(disorder(records('flakes', 1, one, two))).toEqual([]);
    expect(disorder(records('flakes', 1, two, one))).toHaveLength(1);
    expect(disorder([...records('flakes', 1, two), ...records('flakes', 1, one)])).toEqual([]);
    expect(disorder([...records('flakes', 1, two), ...records('flakes', 2, one)])).toEqual([]);
  });

  it('finds ids with the time of a wrong clock', () => {
    const minted = records('flakes', 1, flake(1, 0));
    expect(wrongTimes(minted, at, at)).toEqual([]);
    expect(wrongTimes(minted, at + 3_600_000, at + 3_600_000)).toHaveLength(1);
  });
});

describe('The audit of clocks', () => {
  it('allows what leases allow', () => {
    expect(auditDifference(undefined)).toEqual([]);
    expect(auditDifference(-10_000)).toEqual([]);
    expect(auditDifference(-10_001)[0]?.detail).toContain('10.0 s behind');
  });

  it('finds readings that disagree, and allows for the time of the question', () => {
    const now = (begin: number, end: number, result: number) => call(begin, end, 'now', [], result);
    expect(auditReadings([])).toEqual([]);
    expect(auditReadings([now(0, 1, 5000), now(10_000, 14_000, 18_000)])).toEqual([]);
    expect(auditReadings([now(0, 1, 5000), now(100, 101, 8000)])).toHaveLength(1);
  });
});
