import { InvalidOptionError, StoreError } from '../errors.js';
import { keepAlive } from '../support/timer.js';
import { type Acquired, acquire, requireBelievable } from './acquire.js';
import { freeNode } from './claim.js';
import { LeaseEmitter, type LeaseEvent, type LeaseEvents } from './events.js';
import { LeaseTimers } from './lease-timers.js';
import { NamespaceLayout } from './namespace-layout.js';
import type { LeaseSettings } from './options.js';
import type { LeaseRecord } from './port.js';
import { released, renewed, verdict } from './protocol.js';
import { freshOwner } from './random.js';
import { read, storeTime, swap } from './store-calls.js';
import { type LeaseWait, LeaseWaiters, releasedError } from './waiters.js';
import { bindLease, type LeaseUser, type LeaseWindow, requireRoom } from './window.js';

/** Unanswered renewals to remember. A forgotten one that is found later counts as somebody else's, which is safe. */
const MAX_ATTEMPTS = 100;

/**
 * A node id and the window of time in which the node id may be used. Get a lease with {@link acquireLease}, give it to one
 * generator, and release it when the program ends.
 */
export class Lease {
  readonly namespace: string;
  /** The number of node ids in the namespace. */
  readonly size: number;
  readonly #settings: LeaseSettings;
  readonly #events: LeaseEmitter;
  readonly #layout: NamespaceLayout;
  readonly #timers: LeaseTimers;
  readonly #waiters: LeaseWaiters;
  #record: LeaseRecord;
  #from: number;
  /** Renewals that were sent and not answered. Each of them may have succeeded. */
  #attempts: LeaseRecord[] = [];
  /** True when the window has ended before its time. It may not be used again. */
  #ended = false;
  /** The number of calls of `fence()`. An answer to an earlier question does not count. */
  #fences = 0;
  #user: LeaseUser | undefined;
  /** True when the end of the present window has been emitted. */
  #fencedEmitted = false;
  /** The work with the store that is under way, one operation at a time. */
  #work: Promise<unknown> = Promise.resolve();
  /** The replacements under way. They end with the lease. */
  #replacing: Promise<unknown> = Promise.resolve();
  readonly #releasing = new AbortController();
  #release: Promise<void> | undefined;

  /** @internal */
  constructor(settings: LeaseSettings, { record, from, wasEmpty, layout }: Acquired) {
    this.namespace = settings.namespace;
    this.size = settings.size;
    this.#settings = settings;
    this.#events = new LeaseEmitter(this, settings.label);
    this.#record = record;
    this.#from = from;
    this.#layout = new NamespaceLayout(settings, layout);
    this.#waiters = new LeaseWaiters(this, settings.timer);
    this.#timers = new LeaseTimers(settings, this, {
      onRenewalDue: () => this.#onRenewalDue(),
      onWindowEnd: () => this.#emitFenced(),
    });
    // Sooner than later ones: of many leases that began together, the renewals are spread from the first on.
    this.#timers.renewAfter(settings.ttl / 3, 0.62);
    this.#timers.watchWindow();
    this.#events.report('acquired');
    // In a timer, so that a listener of the new lease gets the event.
    if (wasEmpty) settings.timer.after(0, () => this.#events.emit('empty-namespace'), true);
  }

  /** The node id. It changes when a lost lease is replaced. */
  get id(): number {
    return this.#record.id;
  }

  /** The number of holders that the node id has had, including this one. */
  get term(): number {
    return this.#record.epoch;
  }

  /** The same as {@link term}, under the name in the records of stores. */
  get epoch(): number {
    return this.#record.epoch;
  }

  /** The first timestamp that may go into an id. */
  get from(): number {
    return this.#from;
  }

  /** The first timestamp that may no longer go into an id. Each renewal moves it forward. */
  get until(): number {
    return this.#ended ? this.#from : this.#record.fence;
  }

  /** `'fenced'` from `until` on, until the lease is renewed or replaced. */
  get state(): 'active' | 'fenced' | 'released' {
    if (this.#release) return 'released';
    return this.#settings.clock.now() < this.until ? 'active' : 'fenced';
  }

  /**
   * Calls `fn` at every `event`. {@link LeaseEvents} lists the events. A listener that throws does not disturb the lease.
   *
   * @throws InvalidOptionError when the event is unknown
   */
  on<Name extends LeaseEvent>(event: Name, fn: (...details: LeaseEvents[Name]) => void): this {
    this.#events.on(event, fn);
    return this;
  }

  /** Calls `fn` at the next `event` only. @throws as {@link on} does */
  once<Name extends LeaseEvent>(event: Name, fn: (...details: LeaseEvents[Name]) => void): this {
    this.#events.once(event, fn);
    return this;
  }

  /** Removes a listener that `on` or `once` has added. @throws as {@link on} does */
  off<Name extends LeaseEvent>(event: Name, fn: (...details: LeaseEvents[Name]) => void): this {
    this.#events.off(event, fn);
    return this;
  }

  /**
   * Resolves when the lease is active: at once, or when it was renewed or replaced.
   *
   * @throws LeaseFencedError when `timeout` is over
   * @throws ClosedError when the lease is released
   * @throws the reason of `signal` when it is aborted
   */
  async whenActive(options: LeaseWait = {}): Promise<void> {
    await keepAlive(this.#settings.timer, this.#waiters.wait(options, false));
  }

  /** Resolves when the lease has another window. Throws as {@link whenActive} does. @internal */
  async whenMoved(options: LeaseWait): Promise<void> {
    await keepAlive(this.#settings.timer, this.#waiters.wait(options, true));
  }

  /**
   * Ends the present window at once, for hooks of a platform that copies processes. Call `fence()` after a snapshot was
   * restored, before anything is minted. With `reacquire`, the lease then takes another node id in the background.
   *
   * @throws ClosedError when the lease is released
   */
  fence(): void {
    if (this.#release) throw releasedError(this);
    const record = this.#ended ? undefined : this.#record;
    const fences = ++this.#fences;
    this.#timers.cancelRenewal();
    this.#end();
    this.#work = this.#work.then(() => this.#giveUp(record, fences));
  }

  /**
   * Ends minting, and lets the next holder start just above the last timestamp used. Idempotent.
   *
   * @throws StoreError when the store fails; the lease then expires
   */
  release(): Promise<void> {
    if (this.#release === undefined) {
      this.#release = keepAlive(this.#settings.timer, this.#releaseOnce());
      this.#waiters.wake();
    }
    return this.#release;
  }

  /** The same as {@link release}. */
  close(): Promise<void> {
    return this.release();
  }

  /** The same as {@link release}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** @internal */
  [bindLease](user: LeaseUser): LeaseWindow {
    if (this.#user)
      throw new InvalidOptionError(
        'this lease drives another generator already: acquire a lease for each generator',
      );
    if (this.#release) throw releasedError(this);
    requireRoom(this, user);
    if (user.layout !== undefined) this.#layout.adopt(user.layout);
    this.#user = user;
    if (this.#layout.isPending) this.#keepLayoutSoon();
    return this.#window;
  }

  async #releaseOnce(): Promise<void> {
    this.#timers.cancel();
    const lastUsed = this.#user?.close() ?? -1;
    this.#releasing.abort(releasedError(this));
    await this.#work;
    await this.#replacing;
    const leave = (record: LeaseRecord) =>
      swap(this.#settings, record, released(record, this.#from, lastUsed));
    if (!this.#ended && !(await leave(this.#record))) {
      // A renewal whose answer was lost may have changed the record.
      const current = await this.#current();
      if (current && verdict(current, this.#record, this.#attempts) === 'mine') await leave(current);
    }
    this.#events.emit('released');
  }

  #onRenewalDue(): void {
    // A process that was stopped wakes here. Its window may have ended meanwhile.
    this.#emitFenced();
    if (this.#ended) this.#replace();
    else this.#work = this.#renew();
  }

  /** Renews the lease. Never rejects: a failure is an event, and the renewal is tried again. */
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
      // The record has changed: one of our attempts has succeeded, or somebody else has changed it.
      const current = await this.#current();
      const found = verdict(current, this.#record, this.#attempts);
      if (found === 'mine') return this.#adopt(current as LeaseRecord, 'renewed');
      if (this.#release || this.#ended) return;
      // The window of a node id that was taken over may be used to its end, where a timer emits `'fenced'`.
      if (found === 'broken') this.#end();
      this.#replace();
    } catch (error) {
      this.#retry(error);
    }
  }

  /** Takes another node id in the place of the one that was lost, in the background. */
  #replace(): void {
    this.#replacing = Promise.all([this.#replacing, this.#replaceOnce()]);
  }

  /** Never rejects. When the lease is released meanwhile, nothing is held at the end. */
  async #replaceOnce(): Promise<void> {
    if (this.#release || !this.#settings.reacquire) return;
    const fences = this.#fences;
    const layout = this.#layout.fingerprint;
    try {
      const { record, from, wasEmpty } = await acquire(
        { ...this.#settings, layout },
        true,
        this.#releasing.signal,
      );
      // A copy of this process may know the record, too. The record expires.
      if (fences !== this.#fences) return;
      if (this.#release) {
        await freeNode(this.#settings, { record, from });
        return;
      }
      this.#from = from;
      this.#ended = false;
      this.#layout.acquiredWith(layout);
      this.#adopt(record, 'reacquired');
      if (wasEmpty) this.#events.emit('empty-namespace');
    } catch (error) {
      if (fences === this.#fences) this.#retry(error);
    }
  }

  /** Frees the node id of a window that was ended here. The fence stays: a copy of the process may use the window. */
  async #giveUp(record: LeaseRecord | undefined, fences: number): Promise<void> {
    // If this fails, the lease expires.
    if (record)
      await swap(this.#settings, record, { ...record, owner: null, expiresAt: 0 }).catch(() => false);
    // The last of several calls takes one node id for all of them.
    if (fences === this.#fences) this.#replace();
  }

  /** Writes the layout into the namespace as soon as a generator has named it, not only with the next renewal. */
  #keepLayoutSoon(): void {
    this.#work = this.#work
      .then(() => this.#keepLayout())
      .catch((error: unknown) => {
        if (!this.#release) this.#events.emit('renewal-failed', error);
      });
  }

  /** @throws InvalidOptionError when the namespace remembers another layout; the window has ended then */
  async #keepLayout(): Promise<void> {
    if (!this.#release && !this.#ended) await this.#layout.keep(() => this.#end());
  }

  #retry(error: unknown): void {
    if (this.#release) return;
    if (error instanceof StoreError && error.isReplaced) this.#end();
    this.#events.emit('renewal-failed', error);
    this.#emitFenced();
    this.#timers.renewAfter(this.#settings.ttl / 10);
  }

  async #current(): Promise<LeaseRecord | undefined> {
    const { id } = this.#record;
    return (await read(this.#settings, { first: id, count: 1 })).find((record) => record.id === id);
  }

  #adopt(record: LeaseRecord, event: 'renewed' | 'reacquired'): void {
    if (this.#release || this.#ended) return;
    // The old window may have ended while the store was asked.
    this.#emitFenced();
    this.#record = record;
    this.#attempts = [];
    this.#fencedEmitted = false;
    this.#user?.move(this.#window);
    this.#timers.renewAfter(this.#settings.ttl / 3);
    this.#timers.watchWindow();
    this.#events.emit(event);
    this.#waiters.wake();
  }

  /** Stops minting in this window at once. */
  #end(): void {
    this.#ended = true;
    this.#user?.move(this.#window);
    this.#emitFenced();
  }

  #emitFenced(): void {
    if (this.#fencedEmitted || this.state !== 'fenced') return;
    this.#fencedEmitted = true;
    this.#events.emit('fenced');
  }

  get #window(): LeaseWindow {
    return { node: this.id, from: this.#from, until: this.until };
  }
}
