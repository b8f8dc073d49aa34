import { type Proof, proofOf } from './mint-bounds.js';
import type { Mark, MarkStatus } from './node-sequence.js';

/** How long a node that failed is left alone while others answer, ms: twice as long each time, up to a limit. */
const REST = 1000;
const LONGEST_REST = 30_000;

/** For how long a proof is used without asking the node again, ms: half of the time that it is good for. */
const PROOF_AGE = 500;

/** A node, which answers one round trip at a time; what is asked meanwhile is gathered for the next one. */
export class Lane {
  readonly mark: Mark;
  isBusy = false;
  /** Until when the node has no keys, since its mark is as far ahead of its clock as it may be. */
  waitUntil = 0;
  /** Until when it is left alone, since it has failed. */
  restUntil = 0;
  /** How often it was opened without having minted since. */
  admissions = 0;
  #failures = 0;
  #isSilent = false;
  #proof: Proof | undefined;
  /** Until when the proof need not be renewed. */
  #provenUntil = 0;
  #asking: Promise<void> | undefined;

  constructor(mark: Mark) {
    this.mark = mark;
  }

  /** It did not answer when it was last asked: nobody knows whom it mints for. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** When it was last seen to mint for its ring; `undefined` if it is silent, or was seen not to. */
  get proof(): Proof | undefined {
    return this.#isSilent ? undefined : this.#proof;
  }

  isProofOld(now: number): boolean {
    return this.#proof === undefined || this.#provenUntil <= now;
  }

  /** It has answered, at a request that was sent at `sentAt`. */
  answered(proof: Proof | undefined, sentAt: number): void {
    this.#proof = proof;
    this.#provenUntil = sentAt + PROOF_AGE;
    this.#isSilent = false;
  }

  /** It has done what it was asked for. */
  succeeded(): void {
    this.#failures = 0;
    this.restUntil = 0;
  }

  /** A proof that is to be renewed before it is used again. */
  expire(): void {
    this.#provenUntil = 0;
  }

  /** @param isSilent whether it did not answer at all */
  failed(now: number, isSilent: boolean): void {
    this.#isSilent = isSilent;
    this.restUntil = now + Math.min(REST * 2 ** this.#failures++, LONGEST_REST);
  }

  /**
   * Asks whom it mints for. Several may want to know at the same time: it is asked once.
   *
   * @throws what `check` throws, and the error of a node that does not answer
   */
  ask(check: (status: MarkStatus) => void): Promise<void> {
    const sentAt = performance.now();
    this.#asking ??= this.mark
      .look('minting keys')
      .then((status) => {
        this.answered(proofOf(status), sentAt);
        check(status);
      })
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }
}
