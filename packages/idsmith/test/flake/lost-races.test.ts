import { FlakeGenerator } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Claims, OwnState } from '../../src/flake/claims.ts';
import { SharedState } from '../../src/flake/shared-state.ts';
import { TickSlot } from '../../src/flake/tick-table.ts';
import { beforeExchange } from '../support/interrupt-atomics.ts';
import { increasing, NOW, tiny } from './set-up.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const BITS = 2;
const FULL = 3;
const RULES = { onFull: 'wait', onClockBack: 'hold', maxBackward: 10_000 } as const;
const window = (node: number) => ({ node, from: 0, until: Number.POSITIVE_INFINITY });

/** A clock that moves on by a millisecond with each reading. */
const moving = () => {
  let now = NOW;
  return { now: () => now++ };
};

function opened(slot?: TickSlot): OwnState {
  const state = new OwnState(FULL, slot);
  state.move(window(5), 0);
  return state;
}

describe('a thread that another one overtakes', () => {
  it.each(['next', 'batch'] as const)('reads the clock again, and repeats no id, in %s()', (how) => {
    const clock = new FakeClock(NOW);
    const slow = new FlakeGenerator({ node: 5, layout: tiny, clock });
    const fast = FlakeGenerator.attach(slow.share(), { clock });
    const before = slow.next();
    const between: bigint[] = [];
    const hasHappened = beforeExchange(1, () => between.push(fast.next()));
    const late = how === 'next' ? [slow.next()] : slow.batch(2);
    expect(hasHappened()).toBe(true);
    expect(between).toHaveLength(1);
    expect(increasing([before, ...between, ...late])).toBe(true);
  });

  it.each([
    ['of its own', (slot: TickSlot) => opened(slot)],
    ['that it shares', (slot: TickSlot) => SharedState.from(opened(), BITS, slot)],
  ])('leaves the tick to the one that claimed it first, with a state %s', (_name, make) => {
    const memory = new SharedArrayBuffer(240);
    const stranger = TickSlot.of(memory, 'node 5');
    const claims = new Claims(tiny, moving(), RULES, make(TickSlot.of(memory, 'node 5')));
    const tick = tiny.tickOf(NOW);
    let isTaken = false;
    const hasHappened = beforeExchange(1, () => {
      isTaken = stranger.claim(tick);
    });
    const claim = claims.take(1, NOW);
    expect([hasHappened(), isTaken]).toEqual([true, true]);
    expect(claim.tick).toBeGreaterThan(tick);
    expect(stranger.claim(claim.tick)).toBe(false);
  });
});

describe('a window that comes while another thread mints', () => {
  const twoViews = () => {
    const holder = SharedState.from(opened(), BITS);
    const minting = new SharedState(holder.buffer, BITS);
    minting.load();
    return { holder, minting };
  };

  it('begins above the ids of that thread', () => {
    const { holder, minting } = twoViews();
    let hasMinted = false;
    const hasHappened = beforeExchange(1, () => {
      hasMinted = minting.advance(100, 2);
    });
    holder.move(window(6), 50);
    expect([hasHappened(), hasMinted]).toEqual([true, true]);
    minting.load();
    expect(minting).toMatchObject({ node: 6, closed: false });
    expect(minting.tick).toBeGreaterThan(100);
    expect(minting.firstTick).toBeGreaterThan(100);
  });

  it('does not open a state that was closed, before or meanwhile', () => {
    const { holder, minting } = twoViews();
    const hasHappened = beforeExchange(1, () => void minting.close());
    holder.move(window(6), 50);
    expect(hasHappened()).toBe(true);
    expect(holder.closed).toBe(true);
    holder.move(window(7), 60);
    minting.load();
    expect([holder.closed, minting.closed]).toEqual([true, true]);
  });
});
