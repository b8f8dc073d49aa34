import { type Block, type BlockSource, memoryStore, type SequenceOptions, Sequences } from 'idsmith';

/** A source that counts its allocations, and whose allocations can be delayed or made to fail. */
export class TestSource implements BlockSource {
  readonly asked: number[] = [];
  readonly returned: Block[] = [];
  /** The number of ids that were allocated. */
  given = 0;
  failure: Error | undefined;
  gate: Promise<void> = Promise.resolve();
  #next: bigint;

  constructor(
    readonly blockSize = 10,
    first = 1n,
    readonly step = 1,
  ) {
    this.#next = first;
  }

  async allocate(blocks: number): Promise<Block> {
    this.asked.push(blocks);
    await this.gate;
    if (this.failure) throw this.failure;
    const count = blocks * this.blockSize;
    const block = { first: this.#next, step: this.step, count };
    this.#next += BigInt(count) * BigInt(this.step);
    this.given += count;
    return block;
  }

  async giveBack(tail: Block): Promise<boolean> {
    this.returned.push(tail);
    return true;
  }
}

/** A sequence "orders" in a store of its own. */
export async function sequenceOf(options: SequenceOptions = {}, prefetch: 'adaptive' | number = 0) {
  const store = memoryStore();
  const sequences = new Sequences(store);
  await sequences.define('orders', options);
  return { store, sequences, sequence: await sequences.get('orders', { prefetch }) };
}

/** A sequence on a source. */
export const on = (source: BlockSource, prefetch: 'adaptive' | number = 0) =>
  new Sequences(memoryStore()).get('x', { source, prefetch });

/** The ids from `first` to `last`. */
export const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => BigInt(first + i));

/** Waits until the promises and timers at work are done. */
export const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
