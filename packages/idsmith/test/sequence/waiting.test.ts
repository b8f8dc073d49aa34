import { getEventListeners } from 'node:events';
import { type Block, ClosedError, UnsafeIntegerError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { sequenceAlone, turn } from './support/alone.ts';
import { range } from './support/sources.ts';

/** A sequence with `left` ids at hand, whose fetches end when the test says so. */
async function lineAt(left: number, first = 1n) {
  let next = first;
  const blockOf = (count: number): Block => {
    const block = { first: next, step: 1, count };
    next += BigInt(count);
    return block;
  };
  const answers: ((ids: number | Error) => void)[] = [];
  const source = {
    fetches: 0,
    allocate: () => {
      source.fetches++;
      return new Promise<Block>((resolve, reject) =>
        answers.push((ids) => (typeof ids === 'number' ? resolve(blockOf(ids)) : reject(ids))),
      );
    },
  };
  const alone = sequenceAlone(source);
  alone.policy.isAhead = false;
  alone.policy.lowWater = 0;
  /** Ends the fetch that is under way. */
  const arrive = async (ids: number | Error) => {
    await turn();
    answers.shift()?.(ids);
    await turn();
  };
  if (left > 0) {
    alone.beginFetch();
    await arrive(left);
    source.fetches = 0;
  }
  const served: string[] = [];
  const add = (name: string, count: number, signal?: AbortSignal) =>
    alone.sequence.batch(count, signal && { signal }).then((ids) => {
      served.push(name);
      return ids;
    });
  return { ...alone, source, served, add, arrive };
}

const statusOf = ({ sequence }: Awaited<ReturnType<typeof lineAt>>) => {
  const { available, wanted, fetching } = sequence.status();
  return [available, wanted, fetching];
};

describe('a line of callers', () => {
  it('shares a fetch, is served in order, and fetches again for the rest', async () => {
    const line = await lineAt(0);
    const { source, served, add, arrive } = line;
    const all = [add('a', 3), add('b', 5), add('c', 1)];
    expect(statusOf(line)).toEqual([0, 9, true]);
    await arrive(7);
    expect(served).toEqual(['a']);
    expect([...statusOf(line), source.fetches]).toEqual([4, 6, true, 2]);
    await arrive(2);
    expect(await Promise.all(all)).toEqual([range(1, 3), range(4, 8), range(9, 9)]);
    expect(served).toEqual(['a', 'b', 'c']);
    expect([...statusOf(line), source.fetches]).toEqual([0, 0, false, 2]);
  });

  it('is served without a fetch from the ids at hand, a turn of the event loop later while a fetch is under way', async () => {
    const line = await lineAt(3);
    line.beginFetch();
    const caller = line.add('a', 3);
    await undefined;
    expect(line.served).toEqual([]);
    expect(await caller).toEqual(range(1, 3));
    expect(line.source.fetches).toBe(1);
  });

  it('is not served before the first one, which waits for a fetch', async () => {
    const line = await lineAt(4);
    const { source, served, add, arrive } = line;
    const all = [add('a', 10), add('b', 2)];
    await turn();
    await turn();
    expect([served, statusOf(line), source.fetches]).toEqual([[], [4, 12, true], 1]);
    expect(line.sequence.take()).toBeUndefined();
    await arrive(8);
    expect(await Promise.all(all)).toEqual([range(1, 10), range(11, 12)]);
  });

  it('has a caller whose draw fails, and goes on', async () => {
    const { sequence, add, arrive } = await lineAt(0, 2n ** 53n);
    const failing = expect(sequence.nextNumber()).rejects.toThrow(UnsafeIntegerError);
    const next = add('b', 1);
    await arrive(1);
    await failing;
    expect(await next).toEqual([2n ** 53n]);
  });

  it('gets the error of a fetch, except for those whom the ids at hand serve', async () => {
    const line = await lineAt(5);
    const { source, add, arrive } = line;
    const outcomes = Promise.allSettled([add('a', 6), add('b', 3), add('c', 10), add('d', 2)]);
    await arrive(new Error('away'));
    expect((await outcomes).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect([...statusOf(line), source.fetches]).toEqual([0, 0, false, 1]);
    const later = add('e', 1);
    await arrive(1);
    expect(await later).toHaveLength(1);
    expect(source.fetches).toBe(2);
  });

  it('is refused at the end', async () => {
    const line = await lineAt(0);
    const outcomes = Promise.allSettled([line.add('a', 1), line.add('b', 2)]);
    void line.sequence.close();
    const reasons = (await outcomes).map((outcome) => outcome.status === 'rejected' && outcome.reason);
    expect(reasons).toEqual([expect.any(ClosedError), expect.any(ClosedError)]);
    expect(line.sequence.status().wanted).toBe(0);
  });

  it('closes up when a caller leaves', async () => {
    const line = await lineAt(4);
    const controller = new AbortController();
    const large = line.add('a', 10, controller.signal);
    const others = [line.add('b', 3), line.add('c', 1)];
    const outcome = expect(large).rejects.toThrow('gone');
    controller.abort(new Error('gone'));
    await outcome;
    expect(await Promise.all(others)).toEqual([range(1, 3), range(4, 4)]);
    expect(line.sequence.status()).toMatchObject({ available: 0, wanted: 0 });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('lets go of the signal of a caller that was served', async () => {
    const { add, arrive } = await lineAt(0);
    const { signal } = new AbortController();
    const caller = add('a', 1, signal);
    await arrive(1);
    expect(await caller).toEqual([1n]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
