import { InvalidOptionError, StoreError } from '../errors.js';
import { refuseName, show } from '../options.js';
import { awaited } from '../support/timer.js';
import {
  type Acquired,
  acquire,
  freshOwner,
  list,
  randomFraction,
  requireBelievable,
  requireSameLayout,
  storeTime,
  swap,
} from './acquire.js';
import { type LeaseOptions, type LeaseSettings, leaseSettings } from './options.js';
import type { LeaseRecord, LeaseStore } from './port.js';
import { layoutOf, layoutRecord, released, renewed, verdict } from './protocol.js';
import { bindLease, type LeaseUser, type LeaseWindow } from './window.js';

const EVENTS = ['empty-namespace', 'renewed', 'renewal-failed', 'fenced', 'reacquired', 'released'] as const;

/** Unanswered renewals to remember. One that is forgotten and then found counts as somebody else's, which is safe. */
const MAX_ATTEMPTS = 100;

/** The events of a lease. */
export type LeaseEvent = (typeof EVENTS)[number];

/**
 * A node id and the window of time in which it may be used. Get one with {@link acquireLease}, give it to one generator,
 * and release it when the program ends.
 */
export class Lease {
  readonly namespace: string;
  /** How many node ids there are to choose from. */
  readonly size: number;
  readonly #settings: LeaseSettings;
  readonly #listeners = new Map<LeaseEvent, ((detail?: unknown) => void)[]>();
  #record: LeaseRecord;
  #from: number;
  /** Renewals that were sent and not answered: any of them may have been done. */
  #attempts: LeaseRecord[] = [];
  /** Whether the window ended before its time, and may not be used again. */
  #ended = false;
  /** How often `fence()` was called: an answer to a question from before counts for nothing. */
  #fences = 0;
  #user: LeaseUser | undefined;
  /** The layout of the generator, and whether the namespace is known to remember it. */
  #layout: string | undefined;
  #layoutIsKept: boolean;
  #fencedSaid = false;
  #cancel: () => void = () => {};
  #cancelWatch: () => void = () => {};
  /** Work under way with the store; one thing at a time. */
  #work: Promise<unknown> = Promise.resolve();
  #release: Promise<void> | undefined;

  /** @internal */
  constructor(settings: LeaseSettings, { record, from, wasEmpty, layout }: Acquired) {
    this.namespace = settings.namespace;
    this.size = settings.size;
    this.#settings = settings;
    this.#record = record;
    this.#from = from;
    this.#layout = settings.layout ?? layout;
    this.#layoutIsKept = this.#layout !== undefined;
    this.#schedule(settings.ttl / 3);
    this.#watch();
    // A little later, so that a listener attached to the new lease hears it.
    if (wasEmpty) settings.timer.after(0, () => this.#emit('empty-namespace'), true);
  }

  /** The node id. Another one after a lost lease was replaced. */
  get id(): number {
    return this.#record.id;
  }

  /** How many holders the node id has had, this one included. */
  get term(): number {
    return this.#record.epoch;
  }

  /** The same as {@link term}, by the name that records in stores have for it. */
  get epoch(): number {
    return this.#record.epoch;
  }

  /** The first timestamp that may go into an id. */
  get from(): number {
    return this.#from;
  }

  /** The first timestamp that may no longer; moves on with each renewal. */
  get until(): number {
    return this.#ended ? this.#from : this.#record.fence;
  }

  /** `'fenced'` from `until` on, until the lease is renewed or replaced. */
  get state(): 'active' | 'fenced' | 'released' {
    if (this.#release) return 'released';
    return this.#settings.clock.now() < this.until ? 'active' : 'fenced';
  }

  /**
   * Calls `fn` whenever that happens; with the error, for `'renewal-failed'`.
   *
   * @throws InvalidOptionError when there is no such event
   */
  on(event: LeaseEvent, fn: (detail?: unknown) => void): this {
    if (!EVENTS.includes(event)) refuseName('event', event, EVENTS);
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), fn]);
    return this;
  }

  /**
   * Ends the present window at once, for hooks of a platform that copies processes: call it after a snapshot was restored,
   * before anything is minted. With `reacquire`, the lease then takes another node id in the background.
   */
  fence(): void {
    if (this.#release) return;
    const record = this.#ended ? undefined : this.#record;
    this.#fences++;
    this.#cancel();
    this.#end();
    this.#work = this.#work.then(() => this.#giveUp(record));
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

  /** @internal */
  [bindLease](user: LeaseUser): LeaseWindow {
    const { size, namespace } = this;
    if (this.#user)
      throw new InvalidOptionError('this lease drives another generator already; acquire one for each');
    if (this.#release) throw new InvalidOptionError('this lease was released');
    if (size > user.nodes) {
      throw new InvalidOptionError(
        `a lease of namespace ${show(namespace)} with size ${size} does not fit a generator that has room for ${user.nodes} node ids; acquire it with size ${user.nodes} at most`,
      );
    }
    if (user.layout !== undefined && this.#layout !== undefined)
      requireSameLayout(namespace, this.#layout, user.layout);
    this.#user = user;
    this.#layout ??= user.layout;
    if (user.layout !== undefined && !this.#layoutIsKept) this.#keepLayoutSoon();
    return this.#window;
  }

  async #releaseOnce(): Promise<void> {
    this.#cancel();
    this.#cancelWatch();
    const lastUsed = this.#user?.close() ?? -1;
    await this.#work;
    const leave = (record: LeaseRecord) =>
      swap(this.#settings, record, released(record, this.#from, lastUsed));
    if (!this.#ended && !(await leave(this.#record))) {
      // A renewal whose answer was lost may have moved the record on.
      const current = await this.#current();
      if (current && verdict(current, this.#record, this.#attempts) === 'mine') await leave(current);
    }
    this.#emit('released');
  }

  #schedule(ms: number): void {
    // Up to a fifth sooner or later, so that processes started together do not renew together.
    const jittered = ms * (0.8 + 0.4 * randomFraction(this.#settings));
    this.#cancel = this.#settings.timer.after(
      jittered,
      () => {
        // A process that was stopped wakes here: its window may have ended meanwhile.
        this.#sayFenced();
        if (this.#ended) void this.#replace();
        else this.#work = this.#renew();
      },
      true,
    );
  }

  /** Tells when the window ends, though nothing else happens then. */
  #watch(): void {
    this.#cancelWatch();
    const left = this.until - this.#settings.clock.now();
    // A clock out of order tells no time to wait for; the next renewal looks again.
    if (!(left >= 0 && left < 2 ** 31)) return;
    this.#cancelWatch = this.#settings.timer.after(
      left,
      () => {
        // The clock may go slower than the timer.
        if (this.state === 'active') this.#watch();
        else this.#sayFenced();
      },
      true,
    );
  }

  /** Never rejects: a failure is told as an event, and tried again. */
  async #renew(): Promise<void> {
    const settings = this.#settings;
    try {
      await this.#keepLayout();
      const now = await storeTime(settings);
      requireBelievable(settings, now, this.#record.fence);
      if (this.#release || this.#ended) return;
      const next = renewed(this.#record, now, settings.ttl, freshOwner(settings));
      this.#attempts = [...this.#attempts.slice(-MAX_ATTEMPTS), next];
      if (await swap(settings, this.#record, next)) return this.#adopt(next, 'renewed');
      // Not the record we know: either one of our attempts did land, or somebody else changed it.
      const current = await this.#current();
      const found = verdict(current, this.#record, this.#attempts);
      if (found === 'mine') return this.#adopt(current as LeaseRecord, 'renewed');
      if (this.#release || this.#ended) return;
      // The window of a node id that was taken over may be used to its end; `#watch` tells when.
      if (found === 'broken') this.#end();
      void this.#replace();
    } catch (error) {
      this.#retry(error);
    }
  }

  /** Takes another node id in the place of the one that was lost. Never rejects. */
  async #replace(): Promise<void> {
    if (this.#release || !this.#settings.reacquire) return;
    const fences = this.#fences;
    const layout = this.#layout;
    try {
      const { record, from, wasEmpty } = await acquire({ ...this.#settings, layout }, true);
      // A copy of this process may know of the record too. It runs out by itself.
      if (fences !== this.#fences) return;
      if (this.#release) {
        await swap(this.#settings, record, released(record, from, -1));
        return;
      }
      this.#from = from;
      this.#ended = false;
      this.#layoutIsKept = layout !== undefined;
      this.#adopt(record, 'reacquired');
      if (wasEmpty) this.#emit('empty-namespace');
    } catch (error) {
      if (fences === this.#fences) this.#retry(error);
    }
  }

  /** Lets others have the node id of a window that was ended here. Its fence stays: a copy may use the window. */
  async #giveUp(record: LeaseRecord | undefined): Promise<void> {
    if (this.#release) return;
    // If this fails the lease runs out by itself.
    if (record)
      await swap(this.#settings, record, { ...record, owner: null, expiresAt: 0 }).catch(() => false);
    void this.#replace();
  }

  /** Sends the layout to the namespace as soon as a generator has named it, not only with the next renewal. */
  #keepLayoutSoon(): void {
    this.#work = this.#work
      .then(() => this.#keepLayout())
      .catch((error: unknown) => {
        if (!this.#release) this.#emit('renewal-failed', error);
      });
  }

  /**
   * Makes sure that the namespace remembers the generator's layout.
   *
   * @throws InvalidOptionError when it remembers another; the window has ended then, and is not replaced
   */
  async #keepLayout(): Promise<void> {
    const layout = this.#layout;
    if (layout === undefined || this.#layoutIsKept || this.#release || this.#ended) return;
    if (!(await swap(this.#settings, undefined, layoutRecord(layout)))) {
      const remembered = layoutOf(await list(this.#settings));
      if (remembered !== undefined && remembered !== layout) this.#end();
      if (remembered !== undefined) requireSameLayout(this.namespace, remembered, layout);
    }
    this.#layoutIsKept = true;
  }

  #retry(error: unknown): void {
    if (this.#release) return;
    if (error instanceof StoreError && error.isReplaced) this.#end();
    this.#emit('renewal-failed', error);
    this.#sayFenced();
    this.#schedule(this.#settings.ttl / 10);
  }

  async #current(): Promise<LeaseRecord | undefined> {
    return (await list(this.#settings)).find(({ id }) => id === this.#record.id);
  }

  #adopt(record: LeaseRecord, event: LeaseEvent): void {
    if (this.#release || this.#ended) return;
    // The old window may have ended while the store was asked.
    this.#sayFenced();
    this.#record = record;
    this.#attempts = [];
    this.#fencedSaid = false;
    this.#user?.move(this.#window);
    this.#schedule(this.#settings.ttl / 3);
    this.#watch();
    this.#emit(event);
  }

  /** Stops minting in this window, whatever time is left of it. */
  #end(): void {
    this.#ended = true;
    this.#user?.move(this.#window);
    this.#sayFenced();
  }

  #sayFenced(): void {
    if (this.#fencedSaid || this.state !== 'fenced') return;
    this.#fencedSaid = true;
    this.#emit('fenced');
  }

  /** Calls the listeners. One that throws does not keep the lease from being renewed: its error surfaces on its own. */
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
