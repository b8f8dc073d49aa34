import { InvalidOptionError, type StoreError } from '../errors.js';
import { grantedTtl } from '../lineage/granted-ttl.js';
import { isLateRenewal, type Moment } from '../lineage/judge.js';
import { wentBack } from '../lineage/went-back.js';
import { show } from '../options.js';
import { requireSignal } from '../support/abort.js';
import { freshName } from '../support/fresh-name.js';
import { keepAlive } from '../support/timer.js';
import { type Acquired, acquire, countLease, foundAfterChange, freeNode } from './acquire.js';
import { LeaseEmitter, type LeaseEvent, type LeaseEvents } from './events.js';
import { LeaseTimers } from './lease-timers.js';
import {
  longestTtl,
  NamespaceLayout,
  NamespaceRefusal,
  NO_NODES,
  read,
  requireBelievable,
  storeMoment,
  swap,
} from './namespace-store.js';
import { type LeaseOptions, type LeaseSettings, leaseSettings } from './options.js';
import { type LeaseRecord, type LeaseStore, sameRecord } from './port.js';
import { isOlder, isTakenEarly, NAMESPACE_ID, released, renewed, verdict } from './protocol.js';
import { type LeaseWait, LeaseWaiters, releasedError } from './waiters.js';
import { bindLease, type LeaseUser, type LeaseWindow, requireRoom, requireShared } from './window.js';

/**
 * Acquires a node id of `namespace` that nobody else uses at the same time.
 *
 * @throws LeasesExhaustedError when all node ids are held, or none can be used within `waitFor`
 * @throws ClockError when this clock and the store's differ by more than `maxSkew`
 * @throws StoreError when the store fails
 * @throws the reason of `signal` when it is aborted; nothing is held then
 */
export async function acquireLease(store: LeaseStore, options: LeaseOptions): Promise<Lease> {
  const settings = leaseSettings(store, options);
  const signal = requireSignal(options.signal);
  return new Lease(settings, await keepAlive(settings.timer, acquire(settings, false, signal)));
}

/**
 * A node id and the window of time in which the node id may be used. Get a lease with {@link acquireLease}, give it to one
 * generator, and release it when the program ends.
 */
export class Lease {
  readonly namespace: string;
  /** The number of node ids that the namespace gives out. */
  readonly size: number;
  readonly #settings: LeaseSettings;
  readonly #events: LeaseEmitter;
  readonly #layout: NamespaceLayout;
  readonly #timers: LeaseTimers;
  readonly #waiters: LeaseWaiters;
  #node: HeldNode;
  /** The number of calls of `fence()`. An answer to an earlier question does not count. */
  #fences = 0;
  #user: LeaseUser | undefined;
  /** The store's time of a renewal or claim that the store has lost, until the lease is replaced, ms. */
  #lostWrite: number | undefined;
  /** The time of this clock when all windows have ended that may be forgotten with it, ms. */
  #lossEndsAt = 0;
  /** True when the end of the present window has been emitted. */
  #fencedEmitted = false;
  /** The work with the store that is under way, one operation at a time. */
  #work: Promise<unknown> = Promise.resolve();
  /** The replacements under way. They end with the lease. */
  #replacing: Promise<unknown> = Promise.resolve();
  readonly #releasing = new AbortController();
  #release: Promise<void> | undefined;
  readonly #stopCounting: () => void;

  /** @internal */
  constructor(settings: LeaseSettings, acquired: Acquired) {
    const { wasEmpty, layout } = acquired;
    this.namespace = settings.namespace;
    this.size = settings.size;
    this.#settings = settings;
    this.#events = new LeaseEmitter(this, settings.label);
    this.#node = new HeldNode(acquired);
    this.#layout = new NamespaceLayout(settings, layout);
    this.#waiters = new LeaseWaiters(this, settings.timer);
    this.#timers = new LeaseTimers(settings, this, {
      onRenewalDue: () => this.#onRenewalDue(),
      onWindowEnd: () => this.#emitFenced(),
    });
    // Sooner than later ones: of many leases that began together, the renewals are spread from the first on.
    this.#timers.renewAfter(acquired.ttl / 3, 0.62);
    this.#timers.watchWindow();
    leasesOf(settings.store).add(this);
    this.#stopCounting = countLease(this);
    this.#events.report('acquired');
    // In a timer, so that a listener of the new lease gets the event.
    if (wasEmpty) settings.timer.after(0, () => this.#events.emit('empty-namespace'), true);
  }

  /** The node id. It changes when a lost lease is replaced. */
  get id(): number {
    return this.#node.record.id;
  }

  /** The number of holders that the node id has had, including this one. */
  get term(): number {
    return this.#node.record.epoch;
  }

  /** The first timestamp that may go into an id. */
  get from(): number {
    return this.#node.from;
  }

  /** The first timestamp that may no longer go into an id. Each renewal moves it forward. */
  get until(): number {
    return this.#node.until;
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
    const node = this.#node.hasEnded ? undefined : this.#node;
    const fences = ++this.#fences;
    this.#timers.cancelRenewal();
    this.#end();
    this.#work = this.#work.then(() => this.#giveUp(node, fences));
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
    const { store } = this.#settings;
    requireRoom(this.#settings, user);
    requireShared(store.now === undefined || store.hostClock === true, user);
    if (user.layout !== undefined) this.#layout.adopt(user.layout);
    this.#user = user;
    if (this.#layout.isPending) this.#keepLayoutSoon();
    return this.#node.window;
  }

  async #releaseOnce(): Promise<void> {
    leasesOf(this.#settings.store).delete(this);
    this.#stopCounting();
    this.#timers.cancel();
    const lastUsed = this.#user?.close() ?? -1;
    this.#releasing.abort(releasedError(this));
    await this.#work;
    await this.#replacing;
    const node = this.#node;
    if (!node.hasEnded) await this.#leave(node, (record) => released(record, node.from, lastUsed));
    this.#events.emit('released');
  }

  /** Writes the record that a holder leaves behind. */
  async #leave(node: HeldNode, left: (record: LeaseRecord) => LeaseRecord): Promise<void> {
    if (await swap(this.#settings, node.record, left(node.record))) return;
    // A renewal whose answer was lost may have changed the record.
    const current = await this.#stored(node);
    if (current && node.verdictOn(current) === 'mine') {
      await swap(this.#settings, current, left(current));
      return;
    }
    const loss = await this.#lossShownBy(node, current).catch(() => undefined);
    if (loss) await (await this.#tellLoss(node, current, loss))?.();
  }

  #onRenewalDue(): void {
    // A process that was stopped wakes here. Its window may have ended meanwhile.
    this.#emitFenced();
    if (this.#node.hasEnded) this.#replace();
    else this.#work = this.#renew(this.#node);
  }

  /** Renews the lease. Never rejects: a failure is an event, and the renewal is tried again. */
  async #renew(node: HeldNode): Promise<void> {
    // The store has as long to answer as the present window allows.
    const settings = { ...this.#settings, ttl: node.ttl };
    try {
      await this.#keepLayout();
      const readAt = settings.clock.now();
      const moment = await storeMoment(settings);
      const { now, lineage } = moment;
      requireBelievable(settings, now, node.record.fence);
      if (this.#isOver(node)) return;
      const next = node.attemptRenewal(moment, readAt, this.#settings, freshName(settings.random));
      const isDone = await swap(settings, node.record, next);
      // If not, the record has changed: one of our attempts has succeeded, or another process has changed it.
      const current = isDone ? next : await this.#stored(node);
      const found = node.verdictOn(current);
      const isDoubtful = found === 'mine' && (await this.#isDoubtful(node, now));
      const loss = isDoubtful ? LATE : await this.#lossShownBy(node, current);
      if (found === 'mine' && !loss) return this.#adoptRenewal(node, current as LeaseRecord, lineage);
      if (this.#isOver(node)) return;
      // The window of a node id that was taken over may be used to its end, where a timer emits `'fenced'`.
      if (found !== 'taken' || loss) this.#end();
      const fences = this.#fences;
      const restore = loss ? await this.#tellLoss(node, current, loss) : undefined;
      if (current) await restore?.();
      // A call of fence() meanwhile replaces the lease itself.
      if (fences === this.#fences) this.#replace();
      // The replacement tells others of an empty namespace, so it must see the namespace as the store has left it.
      if (!current) this.#replacing = this.#replacing.then(restore);
    } catch (error) {
      this.#retry(error);
    }
  }

  /** The sign in a record that the store has lost acknowledged writes; `undefined` if there is none. */
  async #lossShownBy(node: HeldNode, current: LeaseRecord | undefined): Promise<string | undefined> {
    const { record } = node;
    const found = node.verdictOn(current);
    if (found === 'mine') return undefined;
    if (found === 'broken') return isOlder(current, record) ? OLDER : undefined;
    const { now } = await storeMoment(this.#settings);
    return isTakenEarly(record, now, this.#settings.maxSkew) ? EARLY : undefined;
  }

  /**
   * True if another process may have had the node id between the last two renewals, in writes that the store has lost since. A renewal that
   * came long before the lease ran out needs no proof. It is asked when the answer is there, because this process may have been stopped,
   * and the request late. Then the store must still have the lineage in which the record was whole, and nobody may have made the namespace
   * wait since: a store that fails over and back has the same lineage again.
   */
  async #isDoubtful(node: HeldNode, now: number): Promise<boolean> {
    const settings = this.#settings;
    if (node.lineage === undefined || !node.isLate(now, settings)) return false;
    const { lineage } = await storeMoment(settings);
    if (lineage === undefined) return false;
    const birth = (await read(settings, NO_NODES)).find(({ id }) => id === NAMESPACE_ID);
    return lineage !== node.lineage || node.hasBeenFounded(birth);
  }

  /**
   * Tells that the store has lost acknowledged writes, and makes the namespace wait for windows that may be forgotten.
   *
   * @param sign what shows the loss in the record `current`
   * @returns writes the fence of the lost record again; `undefined` if the new holder of the node id has waited for it
   */
  async #tellLoss(
    node: HeldNode,
    current: LeaseRecord | undefined,
    sign: string,
  ): Promise<(() => Promise<void>) | undefined> {
    const { record } = node;
    const { namespace } = this;
    const error = wentBack({
      message:
        `the store has lost acknowledged writes: its record of node id ${record.id} in namespace ${show(namespace)} ${sign}. ` +
        'The lease has ended',
      namespace,
    });
    this.#events.emit('renewal-failed', error);
    this.#lostWrite = node.renewedAt;
    const { clock, maxSkew } = this.#settings;
    this.#lossEndsAt = clock.now() + longestTtl(this.#settings) + 2 * maxSkew;
    // If this fails, the replacement does it.
    const settings = { ...this.#settings, lostWrite: this.#lostWrite };
    const founded = await foundAfterChange(settings).catch(() => undefined);
    if (founded?.wasThere === false && current === undefined) this.#events.emit('empty-namespace');
    const isHeld = current !== undefined && current.owner !== null && node.verdictOn(current) !== 'mine';
    return founded?.hasWaited && isHeld ? undefined : () => this.#restoreFence(node, current);
  }

  /**
   * Writes the fence of a lost record again, unless the record has changed meanwhile. The older record may be in use by an earlier holder, to
   * whom it was never lost. That holder stops, because the times of its window may have been used since.
   */
  async #restoreFence({ record }: HeldNode, current: LeaseRecord | undefined): Promise<void> {
    const fence = Math.max(current?.fence ?? 0, record.fence);
    const next = { ...(current ?? record), owner: null, expiresAt: 0, fence };
    await swap(this.#settings, current, next).catch(() => false);
  }

  /** True if an answer about this node id comes too late to count. */
  #isOver(node: HeldNode): boolean {
    return this.#release !== undefined || node.hasEnded || node !== this.#node;
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
      const settings = { ...this.#settings, layout, lostWrite: this.#lostWrite };
      const acquired = await acquire(settings, true, this.#releasing.signal);
      // A copy of this process may know the record, too. The record expires.
      if (fences !== this.#fences) return;
      if (this.#release) {
        await freeNode(this.#settings, acquired);
        return;
      }
      this.#layout.acquiredWith(layout);
      this.#lostWrite = undefined;
      // The old window may have ended while the store was asked.
      this.#emitFenced();
      this.#node = new HeldNode(acquired);
      this.#windowMoved('reacquired');
      if (acquired.wasEmpty) this.#events.emit('empty-namespace');
    } catch (error) {
      // A server lets nobody make its namespaces wait. Then this process waits alone, for as long.
      const isRefused = error instanceof InvalidOptionError && !(error instanceof NamespaceRefusal);
      if (isRefused && this.#settings.clock.now() >= this.#lossEndsAt) this.#lostWrite = undefined;
      if (fences === this.#fences) this.#retry(error);
    }
  }

  /** Frees the node id of a window that was ended here. The fence stays: a copy of the process may use the window. */
  async #giveUp(node: HeldNode | undefined, fences: number): Promise<void> {
    const left = (record: LeaseRecord) => ({ ...record, owner: null, expiresAt: 0 });
    // If this fails, the lease expires.
    if (node) await this.#leave(node, left).catch(() => undefined);
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
    if (this.#release || this.#node.hasEnded) return;
    try {
      await this.#layout.keep();
    } catch (error) {
      if (error instanceof NamespaceRefusal) this.#end();
      throw error;
    }
  }

  #retry(error: unknown): void {
    if (this.#release) return;
    if ((error as Partial<StoreError> | undefined)?.reason === 'REPLACED')
      for (const lease of leasesOf(this.#settings.store)) lease.#end();
    this.#events.emit('renewal-failed', error);
    this.#emitFenced();
    this.#timers.renewAfter(this.#node.ttl / 10);
  }

  /** The record that the store has of the node id. */
  async #stored({ record: { id } }: HeldNode): Promise<LeaseRecord | undefined> {
    return (await read(this.#settings, { first: id, count: 1 })).find((record) => record.id === id);
  }

  #adoptRenewal(node: HeldNode, record: LeaseRecord, lineage: string | undefined): void {
    if (this.#isOver(node)) return;
    // The old window may have ended while the store was asked.
    this.#emitFenced();
    const isChanged = lineage !== undefined && (lineage !== node.lineage || node.floor === undefined);
    node.adopt(record, lineage);
    this.#windowMoved('renewed');
    if (isChanged) this.#work = Promise.all([this.#work, this.#followLineage(node)]);
  }

  /** Lets the namespace carry the lineage of the store. If this fails, the next renewal does it. */
  async #followLineage(node: HeldNode): Promise<void> {
    const founded = await foundAfterChange(this.#settings).catch(() => undefined);
    node.floor = founded?.floor;
  }

  #windowMoved(event: 'renewed' | 'reacquired'): void {
    this.#fencedEmitted = false;
    this.#user?.move(this.#node.window);
    this.#timers.renewAfter(this.#node.ttl / 3);
    this.#timers.watchWindow();
    this.#events.emit(event);
    this.#waiters.wake();
  }

  /** Stops minting in this window at once. */
  #end(): void {
    this.#node.end();
    this.#user?.move(this.#node.window);
    this.#emitFenced();
  }

  #emitFenced(): void {
    if (this.#fencedEmitted || this.state !== 'fenced') return;
    this.#fencedEmitted = true;
    this.#events.emit('fenced');
  }
}

// What shows in the record of a node id that its store has lost writes.
const OLDER = 'is missing or older than the one that it had acknowledged';
const LATE =
  'was renewed when its time was nearly over, and another process may have had the node id in what is lost';
const EARLY = 'has another holder, though the lease cannot have run out';

/** Unanswered renewals to remember. A forgotten one that is found later counts as that of another process, which is safe. */
const MAX_ATTEMPTS = 100;

/** A renewal that was sent. */
interface Attempt {
  readonly record: LeaseRecord;
  /** This clock before the store's time was read, ms. */
  readonly readAt: number;
  readonly ttl: number;
}

/** A node id as its holder knows it: the record, the window, and the renewals that were sent. No clock, no store. */
class HeldNode {
  /** The first timestamp that may go into an id. */
  readonly from: number;
  /** The time before which no window of the namespace may begin, ms, as it was last seen. Whoever founds the namespace again sets another one. */
  floor: number | undefined;
  #record: LeaseRecord;
  /** This clock before the store's time was read from which the record was made, ms. */
  #readAt: number;
  /** Renewals that were sent and not answered. Each of them may have succeeded. */
  #attempts: readonly Attempt[] = [];
  #lineage: string | undefined;
  #ttl: number;
  /** The store's time since when the namespace has had a note of the whole ttl, ms: the first renewal at the latest. */
  #notedAt: number | undefined;
  #hasEnded = false;

  constructor({ record, from, lineage, floor, readAt, ttl, notedAt }: Acquired) {
    this.floor = floor;
    this.#record = record;
    this.#ttl = ttl;
    this.#notedAt = notedAt;
    this.from = from;
    this.#lineage = lineage;
    this.#readAt = readAt;
  }

  /** The lineage of the store in which the record was last known to be whole; `undefined` if the store tells none. */
  get lineage(): string | undefined {
    return this.#lineage;
  }

  /** The ttl that the record was made with, ms. */
  get ttl(): number {
    return this.#ttl;
  }

  /** The store's time of the last renewal, or of the claim, ms. */
  get renewedAt(): number {
    return this.#record.expiresAt - this.#ttl;
  }

  /** The record that the store has acknowledged. */
  get record(): LeaseRecord {
    return this.#record;
  }

  /** True when the window has ended before its time. It may not be used again. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The first timestamp that may no longer go into an id. */
  get until(): number {
    return this.#hasEnded ? this.from : this.#record.fence;
  }

  get window(): LeaseWindow {
    return { node: this.#record.id, from: this.from, until: this.until };
  }

  /**
   * The record of a renewal that is sent now.
   *
   * @param moment what the store told before
   * @param readAt this clock before that
   * @param owner a name that was never used
   */
  attemptRenewal(
    { now, lineage = this.#lineage }: Moment,
    readAt: number,
    { ttl: wanted, usualTtl, maxSkew }: LeaseSettings,
    owner: string,
  ): LeaseRecord {
    this.#notedAt ??= now;
    const noted = now - this.#notedAt;
    const ttl = lineage === undefined ? wanted : grantedTtl(wanted, usualTtl, noted, maxSkew);
    const record = renewed(this.#record, now, ttl, owner);
    this.#attempts = [...this.#attempts.slice(-MAX_ATTEMPTS), { record, readAt, ttl }];
    return record;
  }

  /**
   * True if the lease may have run out before a renewal was carried out that is answered now.
   *
   * @param now the store's time before the renewal, ms
   */
  isLate(now: number, { maxSkew, clock }: LeaseSettings): boolean {
    return isLateRenewal(this.#record.expiresAt - now, clock.now() - this.#readAt, this.#ttl, maxSkew);
  }

  /**
   * True if somebody may have founded the namespace since the last renewal. Nobody has if it has the floor that is known, or one that had passed
   * by then: a floor lies ahead when it is set.
   */
  hasBeenFounded(birth: LeaseRecord | undefined): boolean {
    return birth === undefined || (birth.fence !== this.floor && birth.fence > this.renewedAt);
  }

  /** The meaning of the record that stands in the store. */
  verdictOn(current: LeaseRecord | undefined): 'mine' | 'taken' | 'broken' {
    const attempts = this.#attempts.map(({ record }) => record);
    return verdict(current, this.#record, attempts);
  }

  /**
   * Takes the record of a renewal that has succeeded.
   *
   * @param lineage the lineage that the store told before
   */
  adopt(record: LeaseRecord, lineage: string | undefined): void {
    const attempt = this.#attempts.find((each) => sameRecord(each.record, record));
    this.#readAt = attempt?.readAt ?? this.#readAt;
    this.#ttl = attempt?.ttl ?? this.#ttl;
    this.#record = record;
    this.#lineage = lineage ?? this.#lineage;
    this.#attempts = [];
  }

  /** Ends the window before its time. */
  end(): void {
    this.#hasEnded = true;
  }
}

/** The leases of each store that this process holds. */
const held = new WeakMap<LeaseStore, Set<Lease>>();

function leasesOf(store: LeaseStore): Set<Lease> {
  const leases = held.get(store) ?? new Set<Lease>();
  held.set(store, leases);
  return leases;
}
