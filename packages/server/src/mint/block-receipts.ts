import { randomBytes } from 'node:crypto';
import type { Block } from 'idsmith';

/** The most runs that are remembered. The unused end of a forgotten run becomes a gap. */
const MAX_RUNS = 10_000;

interface Taken {
  readonly name: string;
  readonly run: Block;
}

/**
 * Receipts for runs of blocks: random numbers of 53 bits that only the taker of a run is told. With the receipt, the taker can
 * return the unused end of that run once, and nothing else. The store alone could not tell apart two sequences that stand at
 * the same id, or two takers of the same ids.
 *
 * Servers do not share their receipts: a run that is returned to another server becomes a gap. A guess succeeds once in 2^53
 * requests, which takes ten thousand years at the rate of this server.
 */
export class BlockReceipts {
  readonly #taken = new Map<number, Taken>();

  /** Issues a receipt: returns the run for its taker, with the receipt as its origin. */
  issue(name: string, run: Block): Block {
    const receipt = this.#unusedReceipt();
    this.#taken.set(receipt, { name, run });
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > MAX_RUNS) this.#taken.delete(oldest as number);
    return { first: run.first, step: run.step, count: run.count, origin: receipt };
  }

  /** Uses up a receipt: returns the tail for the store, or `undefined` if the tail is not the end of the receipt's run. */
  redeem(name: string, tail: Block): Block | undefined {
    const taken = this.#taken.get(tail.origin ?? -1);
    if (taken?.name !== name || !isEndOf(taken.run, tail)) return undefined;
    this.#taken.delete(tail.origin as number);
    const { origin } = taken.run;
    return { first: tail.first, step: tail.step, count: tail.count, ...(origin !== undefined && { origin }) };
  }

  #unusedReceipt(): number {
    for (;;) {
      const receipt = Number(randomBytes(8).readBigUInt64LE() >> 11n);
      if (!this.#taken.has(receipt)) return receipt;
    }
  }
}

function isEndOf(run: Block, tail: Block): boolean {
  const skipped = BigInt(run.count - tail.count);
  return tail.step === run.step && skipped >= 0n && tail.first === run.first + BigInt(run.step) * skipped;
}
