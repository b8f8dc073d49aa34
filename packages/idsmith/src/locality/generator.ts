import type { Clock } from '../clock.js';
import type { Lease } from '../lease/lease.js';
import { LocalityMinter, requireLocalityHandle } from './minter.js';
import { isLease, type LocalityNode } from './node.js';
import { type LocalityOptions, requireAttachOptions, type SharedLocality } from './options.js';
import { type LocalityUuid, uuidOf } from './uuid.js';

/**
 * Makes locality UUIDs.
 *
 * @example
 * const ids = new LocalityGenerator();
 * ids.next(); // '20be0ffc-314a-bd53-7a50-013a65ca76d2'
 */
export class LocalityGenerator {
  readonly #minter: LocalityMinter;
  #ownsLease = false;
  /** The lease that drives the generator; `undefined` with any other node. */
  readonly lease: Lease | undefined;

  /** @throws InvalidOptionError naming the first option that is wrong */
  constructor(options?: LocalityOptions);
  /** @internal */
  constructor(options: LocalityOptions, handle: SharedLocality);
  constructor(options: LocalityOptions = {}, handle?: SharedLocality) {
    this.#minter = new LocalityMinter(options, handle);
    this.lease = isLease(options.node) ? options.node : undefined;
  }

  /** Makes a generator whose `close()` also releases its lease. @internal */
  static owning(lease: Lease, options: Omit<LocalityOptions, 'node'>): LocalityGenerator {
    const generator = new LocalityGenerator({ ...options, node: lease });
    generator.#ownsLease = true;
    return generator;
  }

  /**
   * Makes a generator that shares the counter of the generator whose `share()` returned the handle, in any thread.
   *
   * @throws InvalidOptionError when the handle is not from `share()`, or an option is not known
   */
  static attach(handle: SharedLocality, options: { clock?: Clock | undefined } = {}): LocalityGenerator {
    return new LocalityGenerator(requireAttachOptions(options), requireLocalityHandle(handle));
  }

  /** A copy of the node in the ids, and its source. With a lease, the node changes when the lease is replaced. */
  get node(): LocalityNode {
    return this.#minter.node;
  }

  /**
   * The next id, 36 characters in lower case.
   *
   * @throws ClockError when the clock gives no time
   * @throws TimeExhaustedError when the time does not fit 48 bits
   * @throws LeaseFencedError when the time lies outside the lease's window
   * @throws ClosedError when the generator was closed or its lease released
   */
  next(): string {
    return this.#minter.next();
  }

  /** The next id as a value. Throws the same errors as {@link next}. */
  nextUuid(): LocalityUuid {
    return uuidOf(this.#minter.next());
  }

  /**
   * The next `count` ids, faster than one by one. `batch(0)` is an empty array.
   *
   * @throws InvalidOptionError unless `count` is a whole number from 0 to 2^24
   */
  batch(count: number): string[] {
    return this.#minter.batch(count);
  }

  /**
   * Fills `target` with as many whole ids of 16 bytes as fit, and returns their number.
   *
   * @throws InvalidOptionError when `target` is not a `Uint8Array`
   */
  fill(target: Uint8Array): number {
    return this.#minter.fill(target);
  }

  /** Makes neighbouring ids from now on: seed + 1, seed + 2 and so on. No effect in sequential mode. */
  useSequentialIds(): void {
    this.#minter.useSequentialIds();
  }

  /** Spreads ids over all leading bytes from now on, starting from the present counter. No effect in variable mode. */
  useVariableIds(): void {
    this.#minter.useVariableIds();
  }

  /**
   * Moves the counter into shared memory and returns a handle for {@link attach} in worker threads.
   *
   * The threads share the counter in the present mode. A thread that changes its mode later, or takes a new seed, then
   * counts alone, in milliseconds that the others do not use. A program that is bundled calls `enableThreads()` before.
   *
   * @throws InvalidOptionError when the runtime has no `SharedArrayBuffer`, or the generator has a lease
   * @throws ClosedError when the generator was closed
   */
  share(): SharedLocality {
    return this.#minter.share();
  }

  /**
   * Ends this generator: from now on it throws a `ClosedError`. Idempotent. Other threads that share the counter go on.
   *
   * The lease is released if `connect` acquired it. A lease that the caller gave stays as it is, but nobody mints with it any
   * more.
   *
   * @throws StoreError when the store fails; minting has ended, and the lease expires
   */
  async close(): Promise<void> {
    this.#minter.close();
    if (this.#ownsLease) await this.lease?.release();
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
