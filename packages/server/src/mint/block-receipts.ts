import { randomBytes } from 'node:crypto';
import type { Block } from 'idsmith';

/** The most runs to remember. The end of one that is forgotten becomes a gap when it is given back. */
const MOST = 10_000;

interface Taken {
  readonly name: string;
  readonly run: Block;
}

/**
 * Receipts for runs of blocks: random numbers of 53 bits that only the taker of a run is told. With its receipt the end of a run may
 * come back, once, and nothing but that: of two sequences that stand at the same id, or of two takers of the same ids, the
 * store alone could not tell which is meant.
 *
 * Nothing is shared with other servers: what is given back there is a gap. A guess is right once in 2^53 requests, which is
 * ten thousand years of them at the rate of this server.
 */
export class Receipts {
  readonly #taken = new Map<number, Taken>();

  /** The run as its taker sees it, with the receipt in the place of its origin. */
  give(name: string, run: Block): Block {
    const receipt = this.#unused();
    this.#taken.set(receipt, { name, run });
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > MOST) this.#taken.delete(oldest as number);
    return { first: run.first, step: run.step, count: run.count, origin: receipt };
  }

  /** The tail as the store knows it, if it is the end of a run whose receipt it has; the receipt is used up then. */
  redeem(name: string, tail: Block): Block | undefined {
    const taken = this.#taken.get(tail.origin ?? -1);
    if (taken?.name !== name || !isEndOf(taken.run, tail)) return undefined;
    this.#taken.delete(tail.origin as number);
    const { origin } = taken.run;
    return { first: tail.first, step: tail.step, count: tail.count, ...(origin !== undefined && { origin }) };
  }

  #unused(): number {
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
