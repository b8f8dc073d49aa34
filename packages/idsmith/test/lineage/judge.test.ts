import { describe, expect, it } from 'vitest';
import { grantedTtl } from '../../src/lineage/granted-ttl.ts';
import {
  followStore,
  further,
  isLateRenewal,
  judgeLoss,
  judgeNamespace,
  judgeSequence,
  judgeServer,
  mayBeForgotten,
} from '../../src/lineage/judge.ts';

const GO_ON = { kind: 'go-on' };

describe('a namespace', () => {
  const moment = { now: 5000, lineage: 'b' };

  it('goes on in a store that cannot tell, and in its own lineage', () => {
    expect(judgeNamespace('a', { now: 5000, lineage: undefined }, 300, 20)).toEqual(GO_ON);
    expect(judgeNamespace('b', moment, 300, 20)).toEqual(GO_ON);
  });

  it('takes the lineage of the store if it has none', () => {
    expect(judgeNamespace(undefined, moment, 300, 20)).toEqual({ kind: 'record' });
  });

  it('waits in another lineage until the longest window has ended, by clocks that are wrong in opposite directions', () => {
    expect(judgeNamespace('a', moment, 300, 20)).toEqual({ kind: 'wait-until', time: 5000 + 300 + 40 });
  });
});

describe('a process that finds a write of its own missing', () => {
  const judge = (floor: number, lostWrite: number | undefined, now = 5000) =>
    judgeLoss(floor, lostWrite, { now, lineage: 'a' }, 300, 20);

  it('goes on when none is missing', () => {
    expect(judge(0, undefined)).toEqual(GO_ON);
  });

  it('goes on when a wait was set after the write', () => {
    expect(judge(4000 + 340, 4000)).toEqual(GO_ON);
    expect(judge(4000 + 339, 4000)).not.toEqual(GO_ON);
  });

  it('waits from now on, or from the write if that is later by the clock of the store', () => {
    expect(judge(0, 4000)).toEqual({ kind: 'wait-until', time: 5000 + 340 });
    expect(judge(0, 6000)).toEqual({ kind: 'wait-until', time: 6000 + 340 });
  });
});

describe('a renewal', () => {
  // With a ttl of 900 ms the margin is 300, a third, unless twice the skew is more; then half at most.
  it('is in time while a third of the lease is left, by both clocks', () => {
    expect(isLateRenewal(300, 599, 900, 20)).toBe(false);
    expect(isLateRenewal(299, 599, 900, 20)).toBe(true);
    expect(isLateRenewal(300, 600, 900, 20)).toBe(true);
    expect(isLateRenewal(900, 0, 900, 20)).toBe(false);
  });

  it('needs twice the skew, up to half of the lease', () => {
    expect(isLateRenewal(400, 499, 900, 200)).toBe(false);
    expect(isLateRenewal(399, 499, 900, 200)).toBe(true);
    expect(isLateRenewal(400, 500, 900, 200)).toBe(true);
    expect(isLateRenewal(450, 449, 900, 9000)).toBe(false);
    expect(isLateRenewal(449, 449, 900, 9000)).toBe(true);
    expect(isLateRenewal(450, 450, 900, 9000)).toBe(true);
  });

  it('is late when the clock of the process went back: nobody knows how much time has passed', () => {
    expect(isLateRenewal(900, -1, 900, 20)).toBe(true);
    expect(isLateRenewal(900, Number.NaN, 900, 20)).toBe(true);
    expect(isLateRenewal(Number.NaN, 0, 900, 20)).toBe(true);
  });
});

describe('a sequence', () => {
  const past = { lineage: 'a', ceiling: 100n };

  it('goes on in a store that cannot tell, and in its own lineage', () => {
    expect(judgeSequence(past, undefined, 10n, 1)).toEqual(GO_ON);
    expect(judgeSequence(past, 'a', 10n, 1)).toEqual(GO_ON);
  });

  it('takes the lineage of the store if nothing is known of it', () => {
    expect(judgeSequence(undefined, 'b', 10n, 1)).toEqual({ kind: 'record' });
  });

  it('continues in another lineage at its ceiling, or at its position if that is further on', () => {
    expect(judgeSequence(past, 'b', 10n, 1)).toEqual({ kind: 'continue-at', next: 100n });
    expect(judgeSequence(past, 'b', 110n, 1)).toEqual({ kind: 'continue-at', next: 110n });
    expect(judgeSequence(past, 'b', 110n, -1)).toEqual({ kind: 'continue-at', next: 100n });
    expect(judgeSequence(past, 'b', 10n, -1)).toEqual({ kind: 'continue-at', next: 10n });
  });

  it('asks a person in another lineage if it has no ceiling', () => {
    expect(judgeSequence({ lineage: 'a', ceiling: undefined }, 'b', 10n, 1)).toEqual({ kind: 'refuse' });
  });
});

describe('a store that remembers itself', () => {
  const moment = { now: 5000, lineage: 'b' };

  it('is new if it remembers nothing', () => {
    expect(followStore(undefined, moment)).toEqual({ lineage: 'b', lossAt: 0, losses: 0 });
  });

  it('stays as it is in its own lineage', () => {
    const own = { lineage: 'b', lossAt: 7, losses: 2 };
    expect(followStore(own, moment)).toBe(own);
  });

  it('has lost something in another lineage, by now', () => {
    const before = { lineage: 'a', lossAt: 7, losses: 2 };
    expect(followStore(before, moment)).toEqual({ lineage: 'b', lossAt: 5000, losses: 3 });
  });

  it('may have forgotten a sequence after a loss, unless its numbers are for later than any clock was', () => {
    const one = { lineage: 'b', losses: 1 };
    expect(mayBeForgotten({ ...one, lossAt: 0 }, 0)).toBe(false);
    expect(mayBeForgotten({ ...one, lossAt: 1 }, 0)).toBe(true);
    expect(mayBeForgotten({ ...one, lossAt: 5000 }, 65_000)).toBe(true);
    expect(mayBeForgotten({ ...one, lossAt: 5000 }, 65_001)).toBe(false);
  });
});

describe('a server', () => {
  it('is good if it is the first, the same, or a later one', () => {
    expect([judgeServer(undefined, 1), judgeServer(2, 2), judgeServer(2, 3)]).toEqual([GO_ON, GO_ON, GO_ON]);
  });

  it('is refused if another one has taken its place', () => {
    expect(judgeServer(3, 2)).toEqual({ kind: 'refuse' });
  });
});

describe('a ttl longer than usual', () => {
  it('counts once its note is older than any loss that is covered, by clocks that differ', () => {
    expect(grantedTtl(900, 300, 60_040, 20)).toBe(900);
    expect(grantedTtl(900, 300, 60_039, 20)).toBe(300);
    expect(grantedTtl(900, 300, 1040, 20, 1000)).toBe(900);
    expect(grantedTtl(900, 300, 1039, 20, 1000)).toBe(300);
  });

  it('is a rule for longer ones alone', () => {
    expect(grantedTtl(200, 300, 0, 20)).toBe(200);
  });
});

it('a number is further on if the sequence reaches it later', () => {
  expect([further(1n, 2n, 1), further(2n, 1n, 1), further(1n, 2n, -1), further(2n, 1n, -1)]).toEqual([
    2n,
    2n,
    1n,
    1n,
  ]);
});
