import type { Block } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { partOf } from '../../../src/sequence/block.ts';
import type { PrefetchPolicy } from '../../../src/sequence/prefetch.ts';
import { Supply } from '../../../src/sequence/supply.ts';
import { TestSource } from './sources.ts';

/** A source that tells who was last, as the test says, and can give its runs with gaps between them. */
export class LastSource extends TestSource {
  /** The runs that were asked about. */
  readonly looked: Block[] = [];
  last: () => Promise<boolean> = async () => true;

  isLast(run: Block): Promise<boolean> {
    this.looked.push(run);
    return this.last();
  }
}

/** A policy that fetches what the test says, and keeps what it is told. */
class NotedPolicy implements PrefetchPolicy {
  readonly starts: Parameters<PrefetchPolicy['blocksToFetch']>[0][] = [];
  readonly ends: Parameters<PrefetchPolicy['fetched']>[0][] = [];
  readonly rests: number[] = [];
  readonly isAhead = true;
  readonly lowWater = 5;
  readonly resting = 20;
  blocks = 10;

  blocksToFetch(start: Parameters<PrefetchPolicy['blocksToFetch']>[0]): number {
    this.starts.push(start);
    return this.blocks;
  }

  fetched(end: Parameters<PrefetchPolicy['fetched']>[0]): void {
    this.ends.push(end);
  }

  rested(used: number): void {
    this.rests.push(used);
  }
}

/** A supply alone, on fake time. The test is the sequence: it has the run that is being handed out, and those who wait. */
export function supplyAlone<S extends TestSource>(source: S) {
  const time = new FakeTime();
  const timers: { ms: number; background: boolean }[] = [];
  const cancelled: typeof timers = [];
  const timer = {
    after(ms: number, fn: () => void, background: boolean) {
      const timer = { ms, background };
      timers.push(timer);
      const cancel = time.after(ms, fn);
      return () => {
        cancelled.push(timer);
        cancel();
      };
    },
  };
  const policy = new NotedPolicy();
  const hand: { run: Block | undefined; wanted: number } = { run: undefined, wanted: 0 };
  const demand = {
    left: () => hand.run?.count ?? 0,
    rest: () => hand.run,
    wanted: () => hand.wanted,
    cut: (count: number) => {
      const { run } = hand;
      if (run === undefined) throw new Error('there is no run');
      hand.run = count === run.count ? undefined : partOf(run, 0, run.count - count);
      return partOf(run, run.count - count, count);
    },
  };
  const supply = new Supply({ name: 'x', source, policy, time: { clock: time.clock(), timer } }, demand);
  /** Hands ids out: of the run at hand, then of the next ones. */
  const handOut = (count: number) => {
    for (let rest = count; rest > 0; ) {
      hand.run ??= supply.shift() as Block;
      const taken = Math.min(rest, hand.run.count);
      rest -= taken;
      hand.run = taken === hand.run.count ? undefined : partOf(hand.run, taken, hand.run.count - taken);
    }
  };
  return { time, timers, cancelled, policy, hand, supply, source, handOut };
}

/** A promise that opens by hand. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
