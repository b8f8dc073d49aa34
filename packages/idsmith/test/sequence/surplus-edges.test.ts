import { type Block, StoreError } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { SurplusWatch } from '../../src/sequence/surplus.ts';
import { TestSource } from './support/sources.ts';
import { gate, LastSource, supplyAlone } from './support/supply.ts';

const run = (first: bigint, count: number): Block => ({ first, step: 1, count });

describe('ids that nobody needs', () => {
  it('go back after a second, down to a rest, and nobody looks again', async () => {
    const { supply, source, time, timers, policy, handOut } = supplyAlone(new LastSource());
    await supply.fetch();
    expect(timers).toEqual([{ ms: 1000, background: true }]);
    handOut(5);
    await time.advance(999);
    expect(source.looked).toEqual([]);
    await time.advance(1);
    expect(source.looked).toEqual([run(6n, 95)]);
    expect(source.returned).toEqual([run(26n, 75)]);
    expect([supply.left, policy.rests]).toEqual([20, [5]]);
    await time.advance(10_000);
    expect([source.looked.length, timers.length]).toEqual([1, 1]);
    handOut(3);
    await supply.fetch();
    expect(policy.starts[1]).toMatchObject({ left: 17, handedOut: 8 });
  });

  it('are those beyond the use of the last second', async () => {
    const { supply, source, time, policy, handOut } = supplyAlone(new LastSource());
    await supply.fetch();
    handOut(40);
    await time.advance(1000);
    expect(source.returned).toEqual([run(81n, 20)]);
    expect([supply.left, policy.rests]).toEqual([40, [40]]);
    await time.advance(1000);
    expect([supply.left, policy.rests]).toEqual([20, [40, 0]]);
  });

  it('go back as one run, if the runs follow each other', async () => {
    const { supply, source, time } = supplyAlone(new LastSource());
    await supply.fetch();
    await supply.fetch();
    await time.advance(1000);
    expect(source.looked).toEqual([run(1n, 200)]);
    expect(source.returned).toEqual([run(21n, 180)]);
    expect([supply.shift(), supply.shift()]).toEqual([run(1n, 20), undefined]);
  });

  it('go back run by run, the last one first, if they do not', async () => {
    const { supply, source, time } = supplyAlone(new LastSource());
    await supply.fetch();
    source.allocate = async () => run(501n, 30);
    await supply.fetch();
    await time.advance(1000);
    expect(source.returned).toEqual([run(501n, 30)]);
    expect(supply.left).toBe(100);
    await time.advance(1000);
    expect(source.returned).toEqual([run(501n, 30), run(21n, 80)]);
    expect([supply.shift(), supply.shift(), supply.left]).toEqual([run(1n, 20), undefined, 0]);
  });

  it('are none where the rest is at hand, or where the source cannot tell who was last', async () => {
    const few = supplyAlone(new LastSource());
    few.policy.blocks = 2;
    await few.supply.fetch();
    expect([few.supply.left, few.timers]).toEqual([20, []]);
    const other = supplyAlone(new TestSource());
    await other.supply.fetch();
    expect(other.timers).toEqual([]);
  });

  it('stay while somebody waits or a fetch is under way, until the next look', async () => {
    const { supply, source, time, hand, policy } = supplyAlone(new LastSource());
    await supply.fetch();
    hand.wanted = 1;
    await time.advance(1000);
    hand.wanted = 0;
    const { opened, open } = gate();
    source.gate = opened;
    void supply.fetch();
    await time.advance(1000);
    expect([source.looked, policy.rests, supply.left]).toEqual([[], [], 100]);
    open();
    await time.advance(1000);
    expect(source.returned).toEqual([run(21n, 180)]);
  });

  it('stay if somebody begins to wait during the question, until the next look', async () => {
    const { supply, source, time, hand } = supplyAlone(new LastSource());
    await supply.fetch();
    source.last = async () => {
      hand.wanted = 1;
      return true;
    };
    await time.advance(1000);
    expect([source.looked.length, source.returned]).toEqual([1, []]);
    source.last = async () => true;
    hand.wanted = 0;
    await time.advance(1000);
    expect(source.returned).toEqual([run(21n, 80)]);
  });

  it.each<[string, () => Promise<boolean>]>([
    ['somebody has allocated since', async () => false],
    ['the source does not tell', async () => undefined as never],
    ['the source fails', () => Promise.reject(new StoreError('away'))],
  ])('stay for good if %s', async (_, last) => {
    const { supply, source, time } = supplyAlone(new LastSource());
    source.last = last;
    await supply.fetch();
    await time.advance(10_000);
    expect([source.looked.length, source.returned, supply.left]).toEqual([1, [], 100]);
  });

  it('are not cut off when they are dropped or the supply is closed during the question', async () => {
    for (const end of ['drop', 'close'] as const) {
      const { supply, source, time, hand } = supplyAlone(new LastSource());
      await supply.fetch();
      const { opened, open } = gate();
      source.last = () => opened.then(() => true);
      await time.advance(1000);
      hand.run = run(901n, 100);
      const ending = supply[end](undefined);
      open();
      await ending;
      await time.advance(10_000);
      expect(source.looked).toHaveLength(1);
      expect(source.returned).toEqual(end === 'drop' ? [] : [run(1n, 100)]);
      expect(hand.run).toEqual(run(901n, 100));
    }
  });

  it('that go back are waited for: by a fetch, and by the end', async () => {
    for (const end of [false, true]) {
      const { supply, source, time } = supplyAlone(new LastSource());
      await supply.fetch();
      const { opened, open } = gate();
      source.giveBack = async (tail) => {
        source.returned.push(tail);
        await opened;
        return true;
      };
      await time.advance(1000);
      const next = end ? supply.close(undefined) : supply.fetch();
      await time.advance(100);
      expect([source.asked.length, source.returned.length]).toEqual([1, 1]);
      open();
      await next;
      expect([source.asked.length, source.returned.length]).toEqual(end ? [1, 2] : [2, 1]);
    }
  });
});

describe('a look', () => {
  function watched(time = new FakeTime()) {
    const clock = time.clock();
    const used: number[] = [];
    const counter = { handedOut: 5, goesOn: true };
    const look = async (count: number) => {
      used.push(count);
      return counter.goesOn;
    };
    const watch = new SurplusWatch({ clock, timer: time }, () => counter.handedOut, look);
    return { time, clock, used, counter, watch };
  }

  it('comes every second with the use since the last one, until it is told to end', async () => {
    const { time, used, counter, watch } = watched();
    watch.start();
    watch.start();
    counter.handedOut = 12;
    await time.advance(999);
    expect(used).toEqual([]);
    await time.advance(1);
    counter.goesOn = false;
    await time.advance(5000);
    expect(used).toEqual([7, 0]);
    watch.start();
    await time.advance(1000);
    expect(used).toEqual([7, 0, 0]);
  });

  it.each([
    [-1001, 0],
    [-1000, 1],
    [1000, 1],
    [1001, 0],
  ])('is left out if the clock is more than a second wrong: %s ms', async (offset, looks) => {
    const { time, clock, used, watch } = watched();
    watch.start();
    clock.offset = offset;
    await time.advance(1000);
    expect(used).toHaveLength(looks);
    await time.advance(1000);
    expect(used).toHaveLength(looks + 1);
  });

  it('does not come after stop(), and a stop during a look is the end', async () => {
    const { time, used, watch } = watched();
    watch.stop();
    watch.start();
    watch.stop();
    await time.advance(5000);
    expect(used).toEqual([]);
    const { opened, open } = gate();
    let looks = 0;
    const slow = new SurplusWatch(
      { clock: time.clock(), timer: time },
      () => 0,
      () => {
        looks++;
        return opened.then(() => true);
      },
    );
    slow.start();
    await time.advance(1000);
    slow.stop();
    slow.start();
    open();
    await time.advance(900);
    expect(looks).toBe(1);
    await time.advance(1100);
    expect(looks).toBe(3);
  });

  it('uses the clock and the timers of the machine where no others are given', () => {
    const watch = new SurplusWatch(
      {},
      () => 0,
      async () => true,
    );
    watch.start();
    watch.stop();
  });
});
