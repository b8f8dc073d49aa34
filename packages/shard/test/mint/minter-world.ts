import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readKey } from 'idsmith/internal';
import { afterEach, beforeEach, vi } from 'vitest';
import type { IdError } from '../../../idsmith/src/errors.ts';
import { Minter } from '../../src/mint/minter.ts';
import { EPOCH, ModelNodes } from './model-nodes.ts';

export const NOW = 1_000_000;
export const MINTING = 'minting keys';
const TIMEOUT = 2000;

/** A minter on models of nodes, in simulated time. */
export class MinterWorld {
  nodes = new ModelNodes(0);
  readonly failures: [string, IdError][] = [];
  readonly told: { event: string; [detail: string]: unknown }[] = [];

  /** A minter on so many nodes, whose clocks run with the simulated time. */
  minterOf(count: number): Minter {
    this.nodes = new ModelNodes(count, NOW);
    this.nodes.elapsed = () => performance.now();
    return this.minterOn(Array.from({ length: count }, (_, i) => i));
  }

  /** A minter of another process on these nodes. */
  minterOn(numbers: readonly number[]): Minter {
    const sequences = this.nodes.set(numbers);
    const failed = ({ node }: { node: { address: string } }, error: IdError) =>
      void this.failures.push([node.address, error]);
    return new Minter(sequences, sequences[0]!.nodeSet, TIMEOUT, { failed });
  }

  /** A minter that has got its first key. */
  async readyMinter(count: number): Promise<Minter> {
    const minter = this.minterOf(count);
    await inTime(minter.mint(2, 1));
    // The clocks catch up with the first keys, so that nobody has to wait for them.
    await vi.advanceTimersByTimeAsync(5000);
    this.nodes.operations();
    this.told.length = 0;
    return minter;
  }

  /** The nodes that were asked for keys since the last call, and for how many. */
  askedFor(): (readonly [number, string | number | undefined])[] {
    const asked = this.nodes.asked.splice(0).filter(({ args }) => args.length > 9);
    return asked.map(({ number, args }) => [number, args[8]] as const);
  }

  /** Makes the nodes wait with their answers, until the function that it returns is called. */
  holdAnswers(): () => void {
    const [answered, answer] = gate();
    this.nodes.onQuestion = () => answered;
    return answer;
  }
}

/** A new world for each test, with simulated time and without chance. */
export function simulateMinters(): { world: MinterWorld } {
  const current = { world: new MinterWorld() };
  const listen = (message: unknown) => void current.world.told.push(message as MinterWorld['told'][number]);
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    vi.spyOn(Math, 'random').mockReturnValue(0);
    current.world = new MinterWorld();
    subscribe('idsmith:key', listen);
  });
  afterEach(() => {
    unsubscribe('idsmith:key', listen);
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  return current;
}

/** What a promise comes to, in simulated time. */
export async function inTime<T>(promise: Promise<T>): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  promise.then(end, end);
  for (let i = 0; i < 500 && !isOver; i++) await vi.advanceTimersByTimeAsync(i < 20 ? 0 : i < 200 ? 1 : 20);
  if (!isOver) throw new Error('it does not end');
  return promise;
}

/** A promise that is kept when its function is called. */
export function gate(): [Promise<void>, () => void] {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, open];
}

export const msOf = (key: string) => readKey(key, EPOCH).ms;
export const isAscending = (keys: readonly string[]) => keys.every((key, i) => i === 0 || key > keys[i - 1]!);
