import { InvalidOptionError, LeasesExhaustedError, StoreError } from '../errors.js';
import { grantedTtl } from '../lineage/granted-ttl.js';
import { show } from '../options.js';
import { randomFraction } from '../random.js';
import { pauseUnlessAborted, unlessAborted } from '../support/abort.js';
import { freshName } from '../support/fresh-name.js';
import { backoff } from '../support/retry.js';
import { systemTimer } from '../support/timer.js';
import { founding, ON_THE_WAY } from './founding.js';
import {
  dateText,
  isBelievable,
  keepLayout,
  list,
  longestTtl,
  type NamespaceView,
  NO_NODES,
  notedSince,
  type Page,
  read,
  rememberLimit,
  rememberNote,
  requireBelievable,
  requireSameLayout,
  requireTtl,
  storeMoment,
  swap,
  swapWith,
} from './namespace-store.js';
import { announceWait } from './node-wait.js';
import { DEFAULT_MAX_TTL, type LeaseSettings } from './options.js';
import { type LeaseRecord, sameRecord } from './port.js';
import {
  anyReady,
  type Candidate,
  candidates,
  claimed,
  isHeld,
  isReady,
  isUndated,
  layoutOf,
  lineageOf,
  NAMESPACE_ID,
  newestFence,
  released,
  windowStart,
} from './protocol.js';

/** The most rounds in which a store refuses a node id that its own listing offers. Rivals explain a few such rounds. */
const MAX_REFUSALS = 12;
/** The rounds after which rivals are not the likeliest explanation. */
const RIVALS = 3;
const BACKOFF = { unit: 5, longest: 1000 };

/** Of those who find a namespace without a founder, the share that comes first, and the answers of the store that the others wait for after them. */
const FOUNDERS = { share: 1 / 32, lead: 2 };
/** The longest answer of the store that counts for this wait, ms. */
const LONGEST_ANSWER = 3000;

/** The most of a first answer that counts, ms. The rest of it may be the set-up of the store. */
const SET_UP = 500;

/** A namespace of more node ids than this number of pages is large: it is not listed as long as pages are enough. */
const LARGE = 16;
const PAGE_SIZE = 64;
/** The pages without a free node id after which the whole namespace is listed. */
const MOST = 4;
/** The pages from the beginning of a large namespace, so that the lowest node ids come first while they are enough. */
const LOWEST = 2;

/** A node id that was claimed. */
export interface Claimed {
  readonly record: LeaseRecord;
  readonly from: number;
}

/** A node id that was acquired. */
export interface Acquired extends Claimed {
  /** The ttl that the record was made with, ms. */
  readonly ttl: number;
  /** The store's time since when the namespace has had a note of the whole ttl, as far as this process knows, ms. */
  readonly notedAt: number | undefined;
  /** True when the namespace was empty: new, or lost by its store. */
  readonly wasEmpty: boolean;
  /** The layout that the namespace remembers. */
  readonly layout: string | undefined;
  /** The lineage that the namespace carries; `undefined` if it carries none. */
  readonly lineage: string | undefined;
  /** The time before which no window of the namespace may begin, ms; `undefined` if it has no birth record. */
  readonly floor: number | undefined;
  /** This clock at the moment when the store's time was read, ms. */
  readonly readAt: number;
}

/**
 * Takes a node id for a new owner, and waits for one if necessary. A wait in the background does not keep the process alive.
 *
 * The best node id comes first. An acquisition that loses it knows of rivals, and from then on takes any node id that is ready, so
 * that many that start at once separate quickly.
 *
 * An aborted signal ends every wait and every question to the store at once. Only the answer to a claim that was sent is waited
 * for, so that a node id that was claimed is freed again.
 *
 * @throws the reason of the signal when it is aborted; nothing is held then
 * @throws LeasesExhaustedError when all node ids are held, or none can be used within `waitFor`
 * @throws InvalidOptionError when the namespace has another layout, or does not allow so long a ttl
 * @throws ClockError when this clock and the store's clock differ too much
 * @throws StoreError when the store fails, or refuses again and again a node id that it lists as free
 */
export function acquire(
  settings: LeaseSettings,
  background: boolean,
  signal?: AbortSignal,
): Promise<Acquired> {
  return new Acquisition(settings, background, signal).run();
}

/** One acquisition: rounds of looking at the namespace and trying to claim, until a node id is held. */
class Acquisition {
  readonly #settings: LeaseSettings;
  readonly #background: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #owner: string;
  /** True when another process was faster to claim, or to prepare the namespace. */
  #hasRivals = false;
  /** True when this process has let others found the namespace. */
  #hasYielded = false;
  /** The time that the store needed for an answer, ms. */
  #answerTime = 0;
  /** True when this process has tried to prepare the namespace. */
  #isPrepared = false;
  /** The rounds in which the store refused a swap. */
  #refusals = 0;
  /** The time spent waiting for a fence, ms. */
  #waited = 0;
  /** True when the whole namespace was seen without a record. */
  #wasEmpty = false;
  /** True when any record of the namespace was seen. */
  #isKnown = false;
  /** The pages seen in a row on which no node id was free. */
  #fullPages = 0;
  /** True when a page has left a question that only the whole namespace answers. */
  #needsAll = false;
  /** The last view, whose time may be used again. */
  #before: NamespaceView | undefined;

  constructor(settings: LeaseSettings, background: boolean, signal: AbortSignal | undefined) {
    this.#settings = settings;
    this.#background = background;
    this.#signal = signal;
    this.#owner = freshName(settings.random);
  }

  async run(): Promise<Acquired> {
    for (;;) {
      const acquired = await this.#round();
      if (acquired) return acquired;
    }
  }

  /** Returns `undefined` if another round may succeed. */
  async #round(): Promise<Acquired | undefined> {
    const settings = this.#settings;
    const view = await this.#look();
    const { records, first, end, now, isWhole } = view;
    this.#isKnown ||= records.length > 0;
    const newest = newestFence(records);
    // Only the whole namespace tells that it is empty, or how new its newest record is.
    if (!isWhole && (!this.#isKnown || !isBelievable(settings, now, newest))) {
      this.#needsAll = true;
      return undefined;
    }
    requireBelievable(settings, now, newest);
    this.#wasEmpty ||= isWhole && records.length === 0;
    if (view.birth === undefined && view.lineage !== undefined && !this.#hasYielded) {
      await this.#letOthersFound();
      return undefined;
    }
    const preparation = await preparing(settings, view);
    if (preparation) {
      // A date counts only in the lineage that was told with it, so it may be used again. Without a lineage each step reads the time.
      this.#isPrepared = view.lineage !== undefined;
      if (preparation === 'rivals') await this.#letOthersFound();
      else if (await swap(settings, ...preparation)) return undefined;
      // A second refusal may mean that the store has another lineage than the one at hand.
      if (this.#hasRivals) this.#before = undefined;
      this.#hasRivals = true;
      await this.#pauseAfterRefusal();
      return undefined;
    }
    const [best] = candidates(records, end, now, first);
    if (best && isReady(best, now)) return this.#tryToClaim(best, view);
    if (!isWhole) this.#fullPages++;
    else await this.#waitForFence(best, view);
    return undefined;
  }

  /**
   * Waits for a random time before a namespace is founded. Of many that start at once, a few come first, the first of them founds it, and all
   * others find it founded. The wait grows with the time that the store needs for an answer, and so with the number of those who ask it. There is
   * none with a timer of the caller's, which may stand still until this call has ended.
   */
  async #letOthersFound(): Promise<void> {
    const { timer, random } = this.#settings;
    this.#hasYielded = true;
    const { share, lead } = FOUNDERS;
    const chance = randomFraction(random);
    const answers = chance < share ? chance / share : 1 + lead * chance;
    const ms = answers * Math.min(this.#answerTime, LONGEST_ANSWER);
    if (timer === systemTimer) await pauseUnlessAborted(timer, ms, this.#background, this.#signal);
  }

  async #look(): Promise<NamespaceView> {
    const settings = this.#settings;
    this.#signal?.throwIfAborted();
    const begun = settings.clock.now();
    const page = pageOf(settings, this.#fullPages, this.#hasRivals, randomFraction(settings.random));
    const isAgain =
      this.#isPrepared || this.#hasYielded || this.#hasRivals || this.#fullPages > 0 || this.#needsAll;
    const before = isAgain ? this.#before : undefined;
    const looking = viewNamespace(settings, this.#needsAll ? undefined : page, before);
    this.#before = await unlessAborted(looking, this.#signal);
    const { readAt } = this.#before;
    if (readAt !== before?.readAt)
      this.#answerTime = Math.max(0, Math.min(readAt - begun, SET_UP), settings.clock.now() - readAt);
    // Who has founded the namespace meanwhile claims a node id now.
    if (this.#hasYielded && !this.#isPrepared && this.#before.birth) this.#hasRivals = true;
    return this.#before;
  }

  async #tryToClaim(best: Candidate, view: NamespaceView): Promise<Acquired | undefined> {
    const settings = this.#settings;
    const notedAt = notedSince(settings, view);
    const ttl = firstTtl(settings, view, notedAt);
    const basis = { now: view.now, birth: view.birth, layout: layoutOf(view.records), ttl };
    for (const candidate of this.#choices(best, view)) {
      const node = await claim(settings, this.#owner, candidate, basis, this.#hasRivals);
      if (node) {
        // If this fails, the node id is free when the lease expires.
        if (this.#signal?.aborted) await freeNode(settings, node).catch(() => undefined);
        this.#signal?.throwIfAborted();
        const { layout } = basis;
        const { birth, readAt } = view;
        const told = { lineage: lineageOf(birth), floor: birth?.fence, readAt, ttl, notedAt };
        return { ...node, ...told, wasEmpty: this.#wasEmpty, layout };
      }
      this.#hasRivals = true;
    }
    // Rivals explain some refusals. More of them may mean that the store has another lineage than the one at hand.
    if (this.#refusals >= RIVALS) this.#before = undefined;
    this.#lookFromTheBeginning();
    await this.#pauseAfterRefusal();
    return undefined;
  }

  /** The node ids to try with one view: the best one and then any, or any one alone if rivals are known. */
  *#choices(best: Candidate, { records, now, first, end }: NamespaceView): Iterable<Candidate> {
    const hadRivals = this.#hasRivals;
    if (!hadRivals) yield best;
    const other = anyReady(records, end, now, randomFraction(this.#settings.random), first);
    if (other && (hadRivals || other.id !== best.id)) yield other;
  }

  /** @param soonest the node id that can be used first; `undefined` if all are held */
  async #waitForFence(soonest: Candidate | undefined, view: NamespaceView): Promise<void> {
    const settings = this.#settings;
    if (soonest === undefined)
      throw exhausted(settings, view, `all ${settings.size} are held${hintOf(settings, view)}`);
    const waitFor = longestWait(settings);
    const wait = soonest.readyAt - view.now;
    this.#waited += wait;
    if (this.#waited > waitFor) {
      const first = `the first of ${settings.size} can be used at ${dateText(soonest.readyAt)}`;
      throw exhausted(settings, view, `${first}, later than waitFor (${waitFor} ms) allows`);
    }
    announceWait(settings, wait, { ...view, taken: takenOf(view) });
    await pauseUnlessAborted(settings.timer, wait, this.#background, this.#signal);
    this.#before = undefined;
    this.#lookFromTheBeginning();
  }

  /** Waits before the next round, longer each time, with jitter, so that rivals separate. */
  async #pauseAfterRefusal(): Promise<void> {
    const { namespace, timer, random } = this.#settings;
    const refusals = ++this.#refusals;
    if (refusals >= MAX_REFUSALS) {
      throw new StoreError(
        `the store listed node ids as free in namespace ${show(namespace)} and refused them ${refusals} times: ` +
          'its listing may be incomplete',
      );
    }
    if (refusals === 1) return;
    const ms = backoff(refusals, BACKOFF, () => randomFraction(random));
    await pauseUnlessAborted(timer, ms, this.#background, this.#signal);
  }

  #lookFromTheBeginning(): void {
    this.#fullPages = 0;
    this.#needsAll = false;
  }
}

/** The part of the ttl for which a reading of the store's clock may be used again. */
const TIME_LIFE = 0.25;

/**
 * Lists the records, then reads the time, so that the time is not earlier than anything in the records.
 *
 * An acquisition that has just lost a race lists again with the time at hand. A time that is too early does no harm to a claim: it
 * only takes node ids for held a little longer. It must not date a namespace.
 *
 * @param page the part to look at; `undefined` for the whole namespace
 * @param before the view whose time may be used again
 */
async function viewNamespace(
  settings: LeaseSettings,
  page: Page | undefined,
  before: NamespaceView | undefined,
): Promise<NamespaceView> {
  const records = await (page ? read(settings, page) : list(settings));
  const birth = records.find(({ id }) => id === NAMESPACE_ID);
  // Before anything can fail: the namespace may be gone by the next try.
  rememberLimit(settings, birth);
  const { first, count } = page ?? { first: settings.first, count: settings.size };
  const part = { records, birth, isWhole: page === undefined, first, end: first + count };
  const readAt = settings.clock.now();
  const isDated = settings.store.durable !== false || (birth !== undefined && !isUndated(birth));
  if (before && isDated && isRecent(settings, readAt - before.readAt))
    return { ...part, now: before.now, lineage: before.lineage, readAt: before.readAt };
  const moment = await storeMoment(settings);
  rememberNote(settings, birth, moment);
  return { ...part, ...moment, readAt };
}

const isRecent = ({ ttl }: LeaseSettings, age: number) => age >= 0 && age <= TIME_LIFE * ttl;

/** The number of node ids that are held, of those that were looked at. */
function takenOf({ records, first, end, now }: NamespaceView): number {
  return records.filter((record) => record.id >= first && record.id < end && isHeld(record, now)).length;
}

/**
 * The page to look at; `undefined` for the whole namespace.
 *
 * A namespace that is not large is listed, so that the best node id is found. An acquisition that knows of rivals takes any node
 * id, and looks at a page of a namespace of any size.
 *
 * @param seen the number of pages without a free node id so far
 * @param fraction a random number from 0 up to, not including, 1
 */
export function pageOf(
  { store, first, size }: Pick<LeaseSettings, 'store' | 'first' | 'size'>,
  seen: number,
  hasRivals: boolean,
  fraction: number,
): Page | undefined {
  const count = store.pageSize ?? PAGE_SIZE;
  const pages = Math.ceil(size / count);
  const isWorthIt = hasRivals || size > LARGE * count;
  if (store.readLeases === undefined || !isWorthIt || seen >= Math.min(MOST, pages)) return undefined;
  const page = !hasRivals && seen < LOWEST ? seen : Math.floor(fraction * pages);
  const skipped = page * count;
  return { first: first + skipped, count: Math.min(count, size - skipped) };
}

/** The birth record of a namespace, as {@link foundAfterChange} has found it and left it. */
export interface Founded {
  /** False if the namespace had none. */
  readonly wasThere: boolean;
  /** True if it was right already, and the wait for what is lost is over. */
  readonly hasWaited: boolean;
  /** The time before which no window may begin, ms; `undefined` if others were quicker to write the record. */
  readonly floor: number | undefined;
}

/**
 * Lets a namespace carry the lineage that the store tells now, though nobody claims a node id. A loss after this is noticed even if the store
 * goes back to a server whose lineage the namespace carried before. With `lostWrite`, the namespace waits for what is lost, too.
 *
 * @returns `undefined` if the store tells no lineage
 */
export async function foundAfterChange(settings: LeaseSettings): Promise<Founded | undefined> {
  const view = await viewNamespace(settings, NO_NODES, undefined);
  const { birth, now, lineage } = view;
  if (lineage === undefined) return undefined;
  const next = await founding(settings, view);
  const wasThere = birth !== undefined;
  if (next === undefined) return { wasThere, hasWaited: now >= (birth?.fence ?? 0), floor: birth?.fence };
  const isWritten = next !== 'rivals' && (await swap(settings, birth, next));
  return { wasThere, hasWaited: false, floor: isWritten ? next.fence : undefined };
}

/**
 * The swap that must come before any claim: of the birth record, in a store that can forget or that tells its lineage.
 *
 * @throws InvalidOptionError when the namespace has another layout, or does not allow so long a ttl
 */
async function preparing(
  settings: LeaseSettings,
  view: NamespaceView,
): Promise<[expected: LeaseRecord | undefined, next: LeaseRecord] | 'rivals' | undefined> {
  const { store } = settings;
  const { records, birth } = view;
  const founded = await founding(settings, view);
  if (founded) return founded === 'rivals' ? founded : [birth, founded];
  if (store.durable === false && birth !== undefined) requireTtl(settings, birth);
  const layout = layoutOf(records);
  if (settings.layout !== undefined && layout !== undefined)
    requireSameLayout(settings.namespace, layout, settings.layout);
  return undefined;
}

/** The view of a namespace that a claim is made from. */
interface ClaimBasis {
  /** The store's time, ms. */
  readonly now: number;
  readonly birth: LeaseRecord | undefined;
  /** The layout that the namespace remembers. */
  readonly layout: string | undefined;
  /** The length of the window, ms. */
  readonly ttl: number;
}

/** The length of a first window, ms. */
function firstTtl(
  { ttl, usualTtl, maxSkew }: LeaseSettings,
  { lineage, now }: NamespaceView,
  notedAt = now,
): number {
  return lineage === undefined ? ttl : grantedTtl(ttl, usualTtl, now - notedAt, maxSkew);
}

/**
 * Claims a node id, and makes the claim count: the namespace is still the one of the basis, and has the layout of the claim.
 *
 * @param hasRivals true if others claim node ids at the same time
 * @returns `undefined` if another process was faster, or the namespace was lost
 * @throws InvalidOptionError when the namespace has another layout; the node id is free again then
 * @throws StoreError when the store fails; a node id that was claimed expires
 */
async function claim(
  settings: LeaseSettings,
  owner: string,
  candidate: Candidate,
  basis: ClaimBasis,
  hasRivals: boolean,
): Promise<Claimed | undefined> {
  const { now, birth, ttl } = basis;
  const record = claimed(candidate, now, { ...settings, owner, ttl });
  const { claimLease } = settings.store;
  const isAtomic = birth !== undefined && claimLease !== undefined;
  const isDone = isAtomic
    ? await swapWith(settings, candidate.record, record, birth)
    : await swap(settings, candidate.record, record);
  if (!isDone) return undefined;
  const node = { record, from: windowStart(candidate, now, settings.maxSkew) };
  try {
    return (await doesCount(settings, basis, isAtomic, hasRivals)) ? node : undefined;
  } catch (error) {
    // After a failure of the store, the node id expires and keeps its fence. A copy of this process, made while the answer was
    // on its way, may have got the answer, and may be minting. All copies get to know another layout.
    if (error instanceof InvalidOptionError) await freeNode(settings, node).catch(() => undefined);
    throw error;
  }
}

/**
 * Checks that the namespace is still the one of the basis, and writes the layout of the claim if the namespace has none. The
 * layout is written once a node id is held, so that an acquisition that fails leaves no layout behind.
 *
 * @param isAtomic true if the claim has compared the birth record itself
 */
async function doesCount(
  settings: LeaseSettings,
  { birth, layout }: ClaimBasis,
  isAtomic: boolean,
  hasRivals: boolean,
): Promise<boolean> {
  const isLayoutOpen = settings.layout !== undefined && layout === undefined;
  // A store that can forget may have lost the namespace since the listing. Then the listing does not count.
  const isUnsure = birth !== undefined && !isAtomic;
  const seen = isUnsure || (isLayoutOpen && hasRivals) ? await read(settings, NO_NODES) : [];
  const present = seen.find(({ id }) => id === NAMESPACE_ID);
  if (isUnsure && !sameRecord(birth, present)) return false;
  if (isLayoutOpen) {
    const given = settings.layout as string;
    const written = layoutOf(seen);
    if (written === undefined) await keepLayout(settings, given);
    else requireSameLayout(settings.namespace, written, given);
  }
  return true;
}

/** Frees a node id that was acquired and never used. */
export async function freeNode(settings: LeaseSettings, { record, from }: Claimed): Promise<void> {
  await swap(settings, record, released(record, from, -1));
}

/** The longest wait for a fence ahead, ms: `waitFor`, or the wait that a namespace needs after its store has lost it. */
function longestWait(settings: LeaseSettings): number {
  const { store, ttl, maxSkew, waitFor } = settings;
  if (waitFor !== undefined) return waitFor;
  if (store.durable !== false && store.moment === undefined) return ttl;
  // Where the store itself has to wait, a client with the usual limit may have begun the wait.
  return ttl + ON_THE_WAY + Math.max(longestTtl(settings), DEFAULT_MAX_TTL) + 2 * maxSkew;
}

/** The end of the message when this process itself holds node ids, as after hot reloads without `close()`. */
function hintOf({ namespace }: LeaseSettings, { records }: NamespaceView): string {
  const own = heldHere(namespace, records);
  if (own === 0) return '';
  return (
    `, ${own} of them by this process itself: close() what is no longer used, or let every module share one ` +
    'connection with connect(url, { shared: true })'
  );
}

function exhausted(
  { namespace, size }: LeaseSettings,
  view: NamespaceView,
  why: string,
): LeasesExhaustedError {
  return new LeasesExhaustedError(`no node id available in namespace ${show(namespace)}: ${why}`, {
    taken: takenOf(view),
    size,
  });
}

/** The part of a lease that tells its record in a store. */
interface HeldLease {
  readonly namespace: string;
  readonly id: number;
  readonly term: number;
  readonly until: number;
}

const LEASES = Symbol.for('idsmith.leases');

/** The leases of this process that were not released. In the realm, because hot reload evaluates this module again. */
function leases(): Set<WeakRef<HeldLease>> {
  const realm = globalThis as { [LEASES]?: Set<WeakRef<HeldLease>> };
  realm[LEASES] ??= new Set();
  return realm[LEASES];
}

/** Counts a lease of this process until the function that comes back is called. */
export function countLease(lease: HeldLease): () => void {
  const ref = new WeakRef(lease);
  leases().add(ref);
  return () => leases().delete(ref);
}

/** The number of these records that leases of this process hold. */
function heldHere(namespace: string, records: readonly LeaseRecord[]): number {
  const own = new Set<string>();
  for (const ref of leases()) {
    const lease = ref.deref();
    if (lease === undefined) leases().delete(ref);
    else if (lease.namespace === namespace) own.add(`${lease.id} ${lease.term} ${lease.until}`);
  }
  return records.filter(({ id, epoch, fence }) => own.has(`${id} ${epoch} ${fence}`)).length;
}
