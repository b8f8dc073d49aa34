import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { KEY, TwoNodeReshard } from './two-node-reshard.ts';

/** Every order of the five steps of two movers, each as a list of the mover that is next. */
const ORDERS = interleavings(5, 5);

function interleavings(first: number, second: number): number[][] {
  if (first === 0 && second === 0) return [[]];
  return [
    ...(first > 0 ? interleavings(first - 1, second).map((rest) => [0, ...rest]) : []),
    ...(second > 0 ? interleavings(first, second - 1).map((rest) => [1, ...rest]) : []),
  ];
}

await describeWith(['redis'], 'Moving a key', () => {
  let nodes: TwoNodeReshard;

  beforeAll(async () => {
    nodes = await TwoNodeReshard.start();
  });
  beforeEach(() => nodes.beginReshard());
  afterAll(() => nodes?.stop());

  const set = (value: string) => nodes.old.set(KEY, value);

  it('by two movers, whatever the order of their steps, takes it once and brings nothing back', async () => {
    for (const order of ORDERS) {
      await set('a');
      await inOrder(order);
      // Both have gone as far as they could; one of them, or the next one, gets it done.
      await nodes.finishMove();
      expect(await nodes.whereabouts(KEY), order.join('')).toEqual({ old: null, next: 'a', lists: 0 });
      await nodes.next.del(KEY);
    }
  });

  it('by two movers, whatever the order, is never undone for one that saw it gone from the old owner', async () => {
    for (const order of ORDERS) {
      await set('a');
      let isDeleted = false;
      await inOrder(order, async () => {
        // As a map in transition does: it uses the new owner as soon as the old one has neither key nor entry.
        const left = await nodes.mover().findAtSource(nodes.change.source, [KEY]);
        if (!isDeleted && left?.length === 0) {
          isDeleted = true;
          await nodes.next.del(KEY);
        }
      });
      await nodes.finishMove();
      if (!isDeleted) await nodes.next.del(KEY);
      expect(await nodes.whereabouts(KEY), order.join('')).toEqual({ old: null, next: null, lists: 0 });
    }
  });

  it('by two movers, while an old client deletes it, leaves the same value alone that is written anew', async () => {
    const some = ORDERS.flatMap((order, i) =>
      [3, 4, 5, 6, 7, 8].map((moment) => ({ order, moment, i })),
    ).filter(({ moment, i }) => (i + moment) % 4 === 0);
    for (const { order, moment } of some) {
      await set('a');
      let count = 0;
      let isRewritten = false;
      await inOrder(order, async () => {
        if (++count === moment) await nodes.old.del(KEY);
        const left = await nodes.mover().findAtSource(nodes.change.source, [KEY]);
        if (!isRewritten && count >= moment && left?.length === 0) {
          isRewritten = true;
          await nodes.next.set(KEY, 'a');
        }
      });
      await nodes.finishMove();
      const expected = isRewritten ? 'a' : null;
      expect(await nodes.whereabouts(KEY), `${order.join('')} ${moment}`).toEqual({
        old: null,
        next: expected,
        lists: 0,
      });
      await nodes.next.del(KEY);
    }
  });

  /** Runs two movers, whose steps come in the given order as far as their lengths allow. */
  async function inOrder(
    order: readonly number[],
    after: () => Promise<void> = async () => {},
  ): Promise<void> {
    const turns = [...order];
    const waiting: (() => void)[][] = [[], []];
    const done = [false, false];
    const next = () => {
      while (turns.length > 0 && done[turns[0]!]) turns.shift();
      const who = turns[0];
      if (who === undefined) for (const list of waiting) for (const go of list.splice(0)) go();
      else if (waiting[who]!.length > 0) {
        turns.shift();
        waiting[who]!.shift()!();
      }
    };
    const turn = (who: number) =>
      new Promise<void>((resolve) => {
        waiting[who]!.push(resolve);
        next();
      });
    await Promise.all(
      [0, 1].map(async (who) => {
        await turn(who);
        await nodes
          .move(async () => {
            await after();
            await turn(who);
          })
          .finally(() => {
            done[who] = true;
            next();
          });
        await after();
      }),
    );
  }
});
