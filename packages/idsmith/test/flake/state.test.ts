import { afterEach, describe, expect, it, vi } from 'vitest';
import { OwnState } from '../../src/flake/claims.ts';
import { SharedState } from '../../src/flake/shared-state.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const BITS = 4;
const FULL = 15;
const window = (node: number, until = 1e6) => ({ node, from: 0, until });

function ownState(): OwnState {
  const state = new OwnState(FULL);
  state.move(window(5), 0);
  return state;
}
const states = [
  ['of one thread', () => ownState()],
  ['of several threads', () => SharedState.from(ownState(), BITS)],
] as const;

describe.each(states)('a state %s', (_name, make) => {
  it('begins before the first tick, and goes where it is told', () => {
    const state = make();
    state.load();
    expect(state).toMatchObject({ tick: -1, sequence: FULL, node: 5, until: 1e6, closed: false });
    expect(state.advance(100, 3)).toBe(true);
    state.load();
    expect(state).toMatchObject({ tick: 100, sequence: 3 });
  });

  it('is not gone on with in the same tick when the node is another, so that ids increase', () => {
    const state = make();
    state.load();
    state.advance(100, 3);
    state.move(window(2), 50);
    state.load();
    expect(state.node).toBe(2);
    expect(state.tick).toBeGreaterThanOrEqual(100);
    expect(state.sequence).toBe(FULL);
  });

  it('is not gone on with below a new window of the same node', () => {
    const state = make();
    state.load();
    state.advance(100, 3);
    state.move(window(5), 200);
    state.load();
    expect(state.tick).toBeGreaterThanOrEqual(199);
    expect(state.sequence).toBe(FULL);
  });

  it('goes on where it was when its window only lasts longer', () => {
    const state = make();
    state.load();
    state.advance(100, 3);
    state.move(window(5, 2e6), 50);
    state.load();
    expect(state).toMatchObject({ tick: 100, sequence: 3, until: 2e6 });
  });

  it('tells the last tick when it is closed, once and again', () => {
    const state = make();
    state.load();
    state.advance(100, 3);
    expect([state.close(), state.close()]).toEqual([100, 100]);
    state.load();
    expect(state.closed).toBe(true);
  });
});

describe('a state of several threads', () => {
  const twoViews = () => {
    const first = SharedState.from(ownState(), BITS);
    const second = new SharedState(first.buffer, BITS);
    first.load();
    second.load();
    return [first, second] as const;
  };

  it('lets only one of two advance from the same place', () => {
    const [first, second] = twoViews();
    expect(second.advance(100, 0)).toBe(true);
    expect(first.advance(100, 0)).toBe(false);
    first.load();
    expect(first).toMatchObject({ tick: 100, sequence: 0 });
  });

  it('lets nobody advance who still means the old node, though the tick was full', () => {
    const [first, second] = twoViews();
    second.advance(100, FULL);
    first.load();
    second.move(window(2), 50);
    expect(first.advance(101, 0)).toBe(false);
    first.load();
    expect(first.node).toBe(2);
  });

  it('lets nobody advance who still sees a window that has become shorter', () => {
    const [first, second] = twoViews();
    second.advance(100, 3);
    first.load();
    second.move(window(5, 50), 50);
    expect(first.advance(100, 4)).toBe(false);
    first.load();
    expect(first.until).toBe(50);
  });

  it('lets nobody advance after it was closed', () => {
    const [first, second] = twoViews();
    second.close();
    expect(first.advance(100, 0)).toBe(false);
    first.load();
    expect(first.closed).toBe(true);
  });

  it('knows a window without end', () => {
    const endless = new OwnState(FULL);
    endless.move(window(1, Number.POSITIVE_INFINITY), 0);
    expect(SharedState.from(endless, BITS).until).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a thread that is terminated while it moves the window', () => {
  const writes = ['store', 'add', 'exchange', 'compareExchange'] as const;

  /** Ends what runs at the `nth` write to shared memory: before it if `isBefore`, else just after it. */
  function dieAt(nth: number, isBefore: boolean): void {
    let count = 0;
    for (const name of writes) {
      const real = Atomics[name] as (...args: unknown[]) => unknown;
      vi.spyOn(Atomics, name).mockImplementation(((...args: unknown[]) => {
        if (++count === nth && isBefore) throw new Error('terminated');
        const result = real(...args);
        if (count === nth) throw new Error('terminated');
        return result;
      }) as never);
    }
  }

  /** Fails what looks at shared memory over and over. */
  function boundLooks(): void {
    const real = Atomics.load as (...args: unknown[]) => unknown;
    let left = 10_000;
    vi.spyOn(Atomics, 'load').mockImplementation(((...args: unknown[]) => {
      if (left-- === 0) throw new Error('spins');
      return real(...args);
    }) as never);
  }

  it.each([1, 2, 3, 4, 5].flatMap((nth) => [[nth, true] as const, [nth, false] as const]))(
    'at write %d (before it: %s) leaves one of the two windows, whole, and the others go on',
    (nth, isBefore) => {
      const dying = SharedState.from(ownState(), BITS);
      const living = new SharedState(dying.buffer, BITS);
      dying.load();
      dying.advance(100, 3);
      living.load();
      dieAt(nth, isBefore);
      try {
        dying.move({ node: 2, from: 0, until: 3e6 }, 200);
      } catch (error) {
        expect((error as Error).message).toBe('terminated');
      }
      vi.restoreAllMocks();
      boundLooks();
      living.load();
      expect([
        { node: 5, until: 1e6, tick: 100, sequence: 3 },
        { node: 2, until: 3e6, tick: 199, sequence: FULL },
      ]).toContainEqual({
        node: living.node,
        until: living.until,
        tick: living.tick,
        sequence: living.sequence,
      });
      expect(living.advance(living.tick + 1, 0)).toBe(true);
      living.move(window(7), 300);
      living.load();
      expect(living).toMatchObject({ node: 7, until: 1e6, sequence: FULL });
    },
  );
});
