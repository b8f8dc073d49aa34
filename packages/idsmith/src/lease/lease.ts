import { InvalidOptionError } from '../errors.js';
import { show } from '../options.js';
import { type Acquired, acquire, list, randomFraction, storeTime, swap } from './acquire.js';
import { type LeaseOptions, type LeaseSettings, leaseSettings } from './options.js';
import type { LeaseRecord, LeaseStore } from './port.js';
import { isMine, released, renewed } from './protocol.js';
import { awaited } from './timer.js';
import { bindLease, type Leasable, type LeaseUser, type LeaseWindow } from './window.js';

/** What happens to a lease. */
export type LeaseEvent =
  | 'empty-namespace'
  | 'renewed'
  | 'renewal-failed'
  | 'fenced'
  | 'reacquired'
  | 'released';

/**
 * A node id and the window of time in which it may be used. Get one with {@link acquireLease}, give it to one generator,
 * and release it when the program ends.
 */
export class Lease implements Leasable {
  readonly namespace: string;
  readonly #settings: LeaseSettings;
  readonly #listeners = new Map<LeaseEvent, ((detail?: unknown) => void)[]>();
  #record: LeaseRecord;
  #from: number;
  #user: LeaseUser | undefined;
  #fencedSaid = false;
  #cancel: () => void = () => {};
  /** What is under way with the store; one thing at a time. */
  #work: Promise<unknown> = Promise.resolve();
  #release: Promise<void> | undefined;

  /** @internal */
  constructor(settings: LeaseSettings, { record, from, wasEmpty }: Acquired) {
    this.namespace = settings.namespace;
    this.#settings = settings;
    this.#record = record;
    this.#from = from;
    this.#schedule(settings.ttl / 3);
    // A little later, so that a listener attached to the new lease hears it.
    if (wasEmpty) settings.timer.after(0, () => this.#emit('empty-namespace'), true);
  }

  /** The node id. Another one after a lost lease was replaced. */
  get id(): number {
    return this.#record.id;
  }

  /** How many holders the node id has had, this one included. */
  get epoch(): number {
    return this.#record.epoch;
  }

  /** The first timestamp that may go into an id. */
  get from(): number {
    return this.#from;
  }

  /** The first timestamp that may no longer; moves on with each renewal. */
  get until(): number {
    return this.#record.fence;
  }

  /** `'fenced'` from `until` on, until it is renewed or replaced. */
  get state(): 'active' | 'fenced' | 'released' {
    if (this.#release) return 'released';
    return this.#settings.clock.now() < this.until ? 'active' : 'fenced';
  }

  /** Calls `fn` whenever that happens; with the error, for `'renewal-failed'`. */
  on(event: LeaseEvent, fn: (detail?: unknown) => void): this {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), fn]);
    return this;
  }

  /**
   * Ends minting, and lets the next holder start just above the last timestamp used. Idempotent.
   *
   * @throws StoreError when the store fails; the lease then runs out by itself
   */
  release(): Promise<void> {
    this.#release ??= awaited(this.#settings.timer, this.#releaseOnce());
    return this.#release;
  }

  [bindLease](user: LeaseUser): LeaseWindow {
    if (this.#user)
      throw new InvalidOptionError('this lease drives another generator already; acquire one for each');
    if (this.#release) throw new InvalidOptionError('this lease was released');
    const { size, namespace } = this.#settings;
    if (size > user.nodes) {
      throw new InvalidOptionError(
        `a lease of namespace ${show(namespace)} with size ${size} does not fit a generator with ${user.nodes} node ids; acquire it with size ${user.nodes} at most`,
      );
    }
    this.#user = user;
    return this.#window;
  }

  async #releaseOnce(): Promise<void> {
    this.#cancel();
    const lastUsed = this.#user?.close() ?? -1;
    await this.#work;
    const leave = (record: LeaseRecord) =>
      swap(this.#settings, record, released(record, this.#from, lastUsed));
    if (!(await leave(this.#record))) {
      // A renewal whose answer was lost may have moved the record on.
      const current = await this.#current();
      if (isMine(current, this.#record)) await leave(current);
    }
    this.#emit('released');
  }

  #schedule(ms: number): void {
    // Up to a fifth sooner or later, so that processes started together do not renew together.
    const jittered = ms * (0.8 + 0.4 * randomFraction(this.#settings));
    this.#cancel = this.#settings.timer.after(
      jittered,
      () => {
        this.#work = this.#renew();
      },
      true,
    );
  }

  /** Never rejects: what fails is told as an event, and tried again. */
  async #renew(): Promise<void> {
    const { ttl } = this.#settings;
    try {
      const next = renewed(this.#record, await storeTime(this.#settings), ttl);
      if (this.#release) return;
      if (await swap(this.#settings, this.#record, next)) return this.#adopt(next, 'renewed');
      // Not what we think: either we have renewed it and never heard, or somebody else has it.
      const current = await this.#current();
      if (isMine(current, this.#record)) return this.#adopt(current, 'renewed');
      if (this.#release) return;
      // What it has left may be used; then it is over.
      this.#settings.timer.after(this.until - this.#settings.clock.now(), () => this.#sayFenced(), true);
      if (this.#settings.reacquire) void this.#replace();
    } catch (error) {
      this.#retry(error);
    }
  }

  /** Takes another node id in the place of the one that was lost. Until then the old window may be used to its end. */
  async #replace(): Promise<void> {
    try {
      const { record, from, wasEmpty } = await acquire(this.#settings, true);
      if (this.#release) {
        await swap(this.#settings, record, released(record, from, -1));
        return;
      }
      this.#from = from;
      if (wasEmpty) this.#emit('empty-namespace');
      this.#adopt(record, 'reacquired');
    } catch (error) {
      this.#retry(error);
    }
  }

  #retry(error: unknown): void {
    if (this.#release) return;
    this.#emit('renewal-failed', error);
    this.#sayFenced();
    this.#schedule(this.#settings.ttl / 10);
  }

  async #current(): Promise<LeaseRecord | undefined> {
    return (await list(this.#settings)).find(({ id }) => id === this.#record.id);
  }

  #adopt(record: LeaseRecord, event: LeaseEvent): void {
    if (this.#release) return;
    this.#record = record;
    this.#fencedSaid = false;
    this.#user?.move(this.#window);
    this.#emit(event);
    this.#schedule(this.#settings.ttl / 3);
  }

  #sayFenced(): void {
    if (this.#fencedSaid || this.state !== 'fenced') return;
    this.#fencedSaid = true;
    this.#emit('fenced');
  }

  /** A listener that throws is its owner's affair, and does not keep the lease from being renewed. */
  #emit(event: LeaseEvent, detail?: unknown): void {
    for (const fn of this.#listeners.get(event) ?? []) {
      try {
        fn(detail);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  get #window(): LeaseWindow {
    return { node: this.id, from: this.#from, until: this.until };
  }
}

/**
 * A node id of `namespace` that nobody else uses at the same time.
 *
 * @throws LeasesExhaustedError when all are held, or none can be used within `waitFor`
 * @throws ClockError when this clock and the store's differ by more than `maxSkew`
 * @throws StoreError when the store fails
 */
export async function acquireLease(store: LeaseStore, options: LeaseOptions): Promise<Lease> {
  const settings = leaseSettings(store, options);
  return new Lease(settings, await awaited(settings.timer, acquire(settings, false)));
}
