import type { Block, BlockSource } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import type { PrefetchPolicy } from '../../../src/sequence/prefetch.ts';
import { Sequence } from '../../../src/sequence/sequence.ts';
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
  isAhead = true;
  lowWater = 5;
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

/** A sequence on fake time, whose policy the test sees. */
export function sequenceAlone<S extends BlockSource>(source: S) {
  const time = new FakeTime();
  const clock = time.clock();
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
  const sequence = new Sequence(
    { name: 'x', as: 'bigint', source, policy, time: { clock, timer } },
    () => {},
  );
  /** Begins a fetch, for a caller that leaves before it is counted. */
  const beginFetch = () => {
    const controller = new AbortController();
    const waiting = sequence.batch(2 ** 24, { signal: controller.signal });
    controller.abort();
    waiting.catch(() => undefined);
  };
  /** Waits for the end of a fetch that nothing delays. */
  const fetched = async () => {
    while (sequence.status().fetching) await turn();
  };
  const fetch = async () => {
    beginFetch();
    await fetched();
  };
  const left = () => sequence.status().available;
  /** Hands ids out, and returns the last one. */
  const handOut = (count: number) => {
    let last: bigint | undefined;
    for (let i = 0; i < count; i++) {
      last = sequence.take();
      if (last === undefined) throw new Error(`only ${i} ids are at hand`);
    }
    return last;
  };
  return {
    time,
    clock,
    timers,
    cancelled,
    policy,
    sequence,
    source,
    beginFetch,
    fetched,
    fetch,
    left,
    handOut,
  };
}

/** A turn of the event loop. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A promise that opens by hand. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
