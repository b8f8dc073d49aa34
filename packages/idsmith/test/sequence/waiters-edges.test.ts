import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Waiters } from '../../src/sequence/waiters.ts';

/** Callers that wait for ids of a stock, whose fetches end when the test says so. */
function lineAt(left: number) {
  const stock = { left, holds: 0, fetches: 0 };
  let settle: { resolve(): void; reject(error: unknown): void } | undefined;
  const waiters = new Waiters({
    left: () => stock.left,
    hold: () => void stock.holds++,
    fetch: () => {
      stock.fetches++;
      return new Promise((resolve, reject) => {
        settle = { resolve, reject };
      });
    },
  });
  const served: string[] = [];
  const add = (name: string, count: number, signal?: AbortSignal) =>
    waiters.add(
      count,
      () => {
        stock.left -= count;
        served.push(`${name}, ${waiters.isHolding ? 'holding' : 'not holding'}`);
        return name;
      },
      signal,
    );
  /** Ends the fetch that is under way. */
  const arrive = async (ids: number | Error) => {
    if (typeof ids === 'number') stock.left += ids;
    if (typeof ids === 'number') settle?.resolve();
    else settle?.reject(ids);
    await turn();
  };
  return { stock, waiters, served, add, arrive };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a line of callers', () => {
  it('is empty at first', () => {
    const { waiters } = lineAt(0);
    expect([waiters.isEmpty, waiters.isHolding, waiters.wanted]).toEqual([true, false, 0]);
  });

  it('shares a fetch, is served in order, and fetches again for the rest', async () => {
    const { stock, waiters, served, add, arrive } = lineAt(0);
    const all = [add('a', 3), add('b', 5), add('c', 1)];
    expect([waiters.isEmpty, waiters.isHolding, waiters.wanted]).toEqual([false, true, 9]);
    expect(stock).toEqual({ left: 0, holds: 3, fetches: 1 });
    await arrive(7);
    expect(served).toEqual(['a, not holding']);
    expect([waiters.isEmpty, waiters.isHolding, waiters.wanted]).toEqual([false, true, 6]);
    expect(stock).toEqual({ left: 4, holds: 4, fetches: 2 });
    await arrive(2);
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
    expect(served).toEqual(['a, not holding', 'b, not holding', 'c, not holding']);
    expect([waiters.isEmpty, waiters.isHolding, waiters.wanted]).toEqual([true, false, 0]);
    expect(stock).toEqual({ left: 0, holds: 4, fetches: 2 });
  });

  it('is served without a fetch from what is at hand, a turn of the event loop later', async () => {
    const { stock, served, add } = lineAt(3);
    const caller = add('a', 3);
    await undefined;
    expect([served, stock]).toEqual([[], { left: 3, holds: 1, fetches: 0 }]);
    expect(await caller).toBe('a');
    expect(stock).toEqual({ left: 0, holds: 1, fetches: 0 });
  });

  it('is not served before the first one, which waits for a fetch', async () => {
    const { stock, served, add, arrive } = lineAt(4);
    const all = [add('a', 10), add('b', 2)];
    await turn();
    await turn();
    expect([served, stock]).toEqual([[], { left: 4, holds: 2, fetches: 1 }]);
    await arrive(8);
    expect(await Promise.all(all)).toEqual(['a', 'b']);
  });

  it('has a caller whose draw fails, and goes on', async () => {
    const { waiters, add, arrive } = lineAt(0);
    const failing = waiters.add(
      1,
      () => {
        throw new Error('not exact');
      },
      undefined,
    );
    const next = add('b', 1);
    const outcome = expect(failing).rejects.toThrow('not exact');
    await arrive(1);
    await outcome;
    expect(await next).toBe('b');
  });

  it('gets the error of a fetch, except for those whom the ids at hand serve', async () => {
    const { stock, waiters, add, arrive } = lineAt(5);
    const outcomes = Promise.allSettled([add('a', 6), add('b', 3), add('c', 10), add('d', 2)]);
    await arrive(new Error('away'));
    expect((await outcomes).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect([waiters.wanted, stock.left, stock.fetches]).toEqual([0, 0, 1]);
    const later = add('e', 1);
    expect(stock.fetches).toBe(2);
    await arrive(1);
    expect(await later).toBe('e');
  });

  it('is refused at the end', async () => {
    const { waiters, add } = lineAt(0);
    const outcomes = Promise.allSettled([add('a', 1), add('b', 2)]);
    waiters.close(new Error('closed'));
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
    expect([waiters.isEmpty, waiters.wanted]).toEqual([true, 0]);
  });

  it('closes up when somebody leaves', async () => {
    const { stock, waiters, served, add } = lineAt(4);
    const controller = new AbortController();
    const large = add('a', 10, controller.signal);
    const others = [add('b', 3), add('c', 1)];
    const outcome = expect(large).rejects.toThrow('gone');
    controller.abort(new Error('gone'));
    await outcome;
    expect(await Promise.all(others)).toEqual(['b', 'c']);
    expect([served.length, stock.left, waiters.wanted]).toEqual([2, 0, 0]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('lets go of the signal of a caller that was served', async () => {
    const { add } = lineAt(4);
    const { signal } = new AbortController();
    expect(await add('a', 1, signal)).toBe('a');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
