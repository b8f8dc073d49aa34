import { wholeMs } from '../clock.js';
import { ClockError, InvalidOptionError, StoreError } from '../errors.js';
import type { Moment } from '../lineage/judge.js';
import { show } from '../options.js';
import { withTimeout } from '../support/timeout.js';
import type { LeaseSettings } from './options.js';
import type { LeaseRecord, LeaseStore } from './port.js';
import { isUndated, layoutOf, layoutRecord, layoutWithin, splitLayout } from './protocol.js';

// A namespace as its store has it: calls within a time limit, and the rules that the namespace keeps.

/** Consecutive node ids of a namespace: `first` … `first` + `count` − 1. */
export interface Page {
  readonly first: number;
  readonly count: number;
}

/** A page without node ids: only the records of the namespace itself. */
export const NO_NODES: Page = { first: 0, count: 0 };

/**
 * The store's time and its lineage, or this clock's time where the store has no clock.
 *
 * @throws ClockError when the two clocks differ by more than `maxSkew`; the time of the message on the way does not count
 */
export async function storeMoment(settings: LeaseSettings): Promise<Moment> {
  const { store, namespace, clock, maxSkew } = settings;
  const before = wholeMs(clock.now());
  const moment = store.moment && (await answer(settings, 'moment', store.moment(namespace)));
  const lineage = moment?.lineage;
  if (moment === undefined && store.now === undefined) return { now: before, lineage };
  const now = wholeMs(
    moment?.now ?? (await answer(settings, 'now', store.now?.() ?? Promise.resolve(before))),
  );
  const after = wholeMs(clock.now());
  const skew = now < before ? before - now : now > after ? now - after : 0;
  if (skew <= maxSkew) return { now, lineage };
  throw new ClockError(
    `this clock and the store's clock differ by ${skew} ms, more than maxSkew allows (${maxSkew}): set the clocks right`,
  );
}

/** The records of the namespace. @throws StoreError when the store fails or does not answer */
export function list(settings: LeaseSettings): Promise<LeaseRecord[]> {
  return answer(settings, 'listLeases', settings.store.listLeases(settings.namespace));
}

/** The records of a page: those of the namespace itself, and those of the node ids on the page. */
export function read(settings: LeaseSettings, { first, count }: Page): Promise<LeaseRecord[]> {
  const { store, namespace } = settings;
  const reading = store.readLeases?.(namespace, first, count) ?? store.listLeases(namespace);
  return answer(settings, 'readLeases', reading);
}

/** Swaps one record of the namespace. @throws StoreError when the store fails or does not answer */
export function swap(
  settings: LeaseSettings,
  expected: LeaseRecord | undefined,
  next: LeaseRecord,
): Promise<boolean> {
  return answer(settings, 'swapLease', settings.store.swapLease(settings.namespace, expected, next));
}

/** Swaps one record of the namespace, if its birth record is still the same, in a store that can do both at once. */
export function swapWith(
  settings: LeaseSettings,
  expected: LeaseRecord | undefined,
  next: LeaseRecord,
  birth: LeaseRecord,
): Promise<boolean> {
  const { store, namespace } = settings;
  const claiming = store.claimLease?.(namespace, expected, next, birth) ?? Promise.resolve(false);
  return answer(settings, 'claimLease', claiming);
}

/** Tells whether a namespace without records was never used, as far as the store knows. */
export async function isNewNamespace(settings: LeaseSettings): Promise<boolean> {
  const { store, namespace } = settings;
  if (store.durable !== false) return true;
  return (
    store.isNewNamespace !== undefined && answer(settings, 'isNewNamespace', store.isNewNamespace(namespace))
  );
}

/** The answer of the store, within a third of the ttl: two more tries fit before the window ends. */
function answer<T>({ timer, ttl }: LeaseSettings, call: string, promise: Promise<T>): Promise<T> {
  const ms = Math.ceil(ttl / 3);
  const error = () =>
    new StoreError(`the store did not answer ${call} within ${ms} ms`, { reason: 'TIMEOUT' });
  return withTimeout(promise, ms, { timer, background: true, error });
}

/** The records of a namespace or of a page of it, and the store's time. */
export interface NamespaceView {
  readonly records: readonly LeaseRecord[];
  /** The birth record, which a namespace has in a store that can forget. */
  readonly birth: LeaseRecord | undefined;
  /** True for the whole namespace, false for a page. */
  readonly isWhole: boolean;
  /** The node ids that were looked at: from `first` to `end` − 1. */
  readonly first: number;
  readonly end: number;
  /** The store's time, ms. */
  readonly now: number;
  /** The store's lineage at that time; `undefined` if it cannot tell. */
  readonly lineage: string | undefined;
  /** This clock at the moment when the time was read, ms. */
  readonly readAt: number;
}

/**
 * Checks a clock against the fences of the namespace, where the store has no clock of its own to compare.
 *
 * @throws ClockError when the clock is ahead of every fence by more than `maxIdle`
 */
export function requireBelievable(settings: LeaseSettings, now: number, newest: number): void {
  const { maxIdle } = settings;
  if (isBelievable(settings, now, newest)) return;
  throw new ClockError(
    `this clock says ${dateText(now)}, and nothing in the namespace is later than ${dateText(newest)}: set the clock right, ` +
      `or raise maxIdle (${maxIdle} ms) if nobody has used the namespace since then`,
  );
}

/** @param newest the highest fence that was seen; −Infinity if there is none */
export function isBelievable({ store, maxIdle }: LeaseSettings, now: number, newest: number): boolean {
  const isChecked = store.now !== undefined && store.hostClock !== true;
  return isChecked || !(now - newest > maxIdle) || newest === -Infinity;
}

/** A time for a message, even a broken one. */
export function dateText(ms: number): string {
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms);
}

// The two rules that a namespace has from its first client. The first is the layout of its ids.

/** An option that is right by itself, but that the namespace does not allow. A process that needs it has no lease. */
export class NamespaceRefusal extends InvalidOptionError {}

/** The layout of a lease's generator, and the namespace's record of the layout. */
export class NamespaceLayout {
  readonly #settings: LeaseSettings;
  #fingerprint: string | undefined;
  /** True when the namespace is known to remember the layout. */
  #isKept: boolean;

  constructor(settings: LeaseSettings, remembered: string | undefined) {
    this.#settings = settings;
    this.#fingerprint = settings.layout ?? remembered;
    this.#isKept = this.#fingerprint !== undefined;
  }

  /** The layout's fingerprint; `undefined` while none is known. */
  get fingerprint(): string | undefined {
    return this.#fingerprint;
  }

  /** True when a layout is known and the namespace may not remember it yet. */
  get isPending(): boolean {
    return this.#fingerprint !== undefined && !this.#isKept;
  }

  /**
   * Takes the layout of a generator.
   *
   * @throws InvalidOptionError when another layout is known
   */
  adopt(layout: string): void {
    const given = layoutWithin(layout, this.#settings.nodes);
    if (this.#fingerprint !== undefined)
      requireSameLayout(this.#settings.namespace, this.#fingerprint, given);
    this.#fingerprint = given;
  }

  /** Notes that a lease was acquired with this layout, or without one. */
  acquiredWith(layout: string | undefined): void {
    this.#isKept = layout !== undefined;
  }

  /**
   * Writes the layout into the namespace, unless that is done.
   *
   * @throws NamespaceRefusal when the namespace remembers another layout
   */
  async keep(): Promise<void> {
    if (this.#fingerprint === undefined || this.#isKept) return;
    await keepLayout(this.#settings, this.#fingerprint);
    this.#isKept = true;
  }
}

/**
 * Writes a layout into the namespace, unless the namespace remembers one.
 *
 * @throws NamespaceRefusal when the namespace remembers another layout
 */
export async function keepLayout(settings: LeaseSettings, layout: string): Promise<void> {
  if (await swap(settings, undefined, layoutRecord(layout))) return;
  const remembered = layoutOf(await read(settings, NO_NODES));
  if (remembered !== undefined) requireSameLayout(settings.namespace, remembered, layout);
}

/** @throws NamespaceRefusal when the namespace remembers another layout, or another range of its node ids */
export function requireSameLayout(namespace: string, remembered: string, given: string): void {
  if (remembered === given) return;
  const [kept, asked] = [splitLayout(remembered), splitLayout(given)];
  if (kept.layout === asked.layout)
    throw new NamespaceRefusal(
      `namespace ${show(namespace)} of this store gives out ${nodesText(kept.nodes)}, not ${nodesText(asked.nodes)}: a store that gave ` +
        `out node ids of another region would repeat ids. ${kept.nodes ? `Set nodes to [${kept.nodes.join(', ')}]` : 'Leave nodes out'}, ` +
        'or see docs/scale.md',
    );
  throw new NamespaceRefusal(
    `namespace ${show(namespace)} has ids of the layout "${remembered}", not "${given}": two layouts in one namespace would ` +
      'repeat ids. Use the same layout, or another namespace whose ids never meet these',
  );
}

const nodesText = (nodes: readonly [first: number, last: number] | undefined) =>
  nodes === undefined ? 'all node ids' : `the node ids ${nodes[0]} to ${nodes[1]}`;

// The second is the longest ttl, in a store that can forget. A client that founds a namespace again after a loss waits for the longest ttl
// that any client of the namespace may have used.

/**
 * The longest ttl that each namespace of a store has ever allowed, as far as this process has seen. It outlives every lease: the
 * next acquisition must know the limit of a namespace that the store has lost.
 */
const limits = new WeakMap<LeaseStore, Map<string, number>>();

/** The limit of a version that did not write its limit, ms. */
const EARLIER_MAX_TTL = 60_000;

/** Remembers the limit in the birth record of a namespace, which the store may lose. */
export function rememberLimit({ store, namespace }: LeaseSettings, birth: LeaseRecord | undefined): void {
  if (birth === undefined || isUndated(birth)) return;
  const known = limits.get(store) ?? new Map<string, number>();
  limits.set(store, known);
  // Zero is from a version that did not write its limit: then the default counts.
  known.set(namespace, Math.max(known.get(namespace) ?? 0, birth.epoch || EARLIER_MAX_TTL));
}

/** The longest ttl that any client of the namespace may have used, as far as this process knows. */
export function longestTtl({ store, namespace, maxTtl }: LeaseSettings): number {
  return Math.max(limits.get(store)?.get(namespace) ?? 0, maxTtl);
}

/** The longest ttl of a namespace, as its birth record notes it. */
interface TtlNote {
  readonly ttl: number;
  readonly lineage: string | undefined;
  /** The store's time when this process first saw the note, ms. */
  readonly seenAt: number;
}

/** The notes that this process has seen. A note that was lost and written again has another lineage. */
const notes = new WeakMap<LeaseStore, Map<string, TtlNote>>();

/**
 * Remembers the note in the birth record of a namespace.
 *
 * @param moment read after the birth record
 */
export function rememberNote(
  { store, namespace }: LeaseSettings,
  birth: LeaseRecord | undefined,
  { now, lineage }: Moment,
): void {
  const known = notes.get(store) ?? new Map<string, TtlNote>();
  notes.set(store, known);
  const note = known.get(namespace);
  if (birth === undefined) known.delete(namespace);
  else if (note?.ttl !== birth.epoch || note.lineage !== lineage)
    known.set(namespace, { ttl: birth.epoch, lineage, seenAt: now });
}

/** The store's time since when this process has known that the namespace has a note of its ttl, ms; `undefined` if it has just been written. */
export function notedSince(
  { store, namespace, ttl }: LeaseSettings,
  { birth, lineage }: NamespaceView,
): number | undefined {
  const note = notes.get(store)?.get(namespace);
  const isSame = note !== undefined && note.ttl === birth?.epoch && note.lineage === lineage;
  return isSame && note.ttl >= ttl ? note.seenAt : undefined;
}

/** @throws NamespaceRefusal when other clients of this namespace would not wait for windows of this length */
export function requireTtl({ namespace, ttl, maxTtl }: LeaseSettings, { epoch }: LeaseRecord): void {
  // Zero is from a version without a limit in the record. The limit was the client's own.
  const limit = epoch === 0 ? maxTtl : epoch;
  if (ttl > limit)
    throw new NamespaceRefusal(
      `ttl must be at most ${limit} in namespace ${show(namespace)}, whose first client set this limit, not ${ttl}`,
    );
}
