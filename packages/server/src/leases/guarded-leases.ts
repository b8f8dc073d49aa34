import { createHash } from 'node:crypto';
import type { LeaseRecord, Store } from 'idsmith';
import { invalidRequest, RequestProblem } from '../http/problem.js';
import { FenceFloors, isSame } from './fence-floors.js';
import { guaranteesOf, storeTime } from './namespaces.js';
import { BIRTH_ID, judgeSwap, type SwapContext, UNDATED } from './swap-policy.js';

/** Texts that some stores cannot keep as they are. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** The namespace of the store's own birth record. */
const STORE_NAMESPACE = 'idsmith/store';

/** The most node ids that are read at once. Every store that reads a part of a namespace can read so many, unless it says less. */
export const LARGEST_PAGE = 64;

/** The bounds of what callers may write. */
export interface WriteLimits {
  /** The longest ttl of callers without the scope admin, ms. */
  readonly ttl: number;
  /** The layouts of namespaces that have one by their name; `null` for namespaces without a layout. */
  readonly layouts: ReadonlyMap<string, string | null>;
}

/** The caller of a swap. */
export interface SwapCaller {
  /** The id of the token; empty where no tokens are in use. */
  readonly token: string;
  readonly isAdmin: boolean;
  /** Takes one of the namespaces that the caller may begin. */
  takeName(): void;
}

/** The most namespaces to remember as begun. */
const MAX_BEGUN = 10_000;

/** The leases of a store, for callers that are not trusted: owners are hidden, and every swap is checked. */
export class GuardedLeases {
  readonly #store: Store;
  readonly #bounds: WriteLimits;
  readonly #begun = new Set<string>();
  readonly #limits: NamespaceLimits;
  readonly #floors = new FenceFloors();

  constructor(store: Store, bounds: WriteLimits) {
    this.#store = store;
    this.#bounds = bounds;
    this.#limits = new NamespaceLimits(store);
  }

  async list(namespace: string): Promise<LeaseRecord[]> {
    return (await this.#store.listLeases(namespace)).map(withoutSecret);
  }

  /** The records of the namespace itself, and those of `count` node ids from `first` on. */
  async read(namespace: string, first: number, count: number): Promise<LeaseRecord[]> {
    const store = this.#store;
    if (store.readLeases && count <= (store.pageSize ?? LARGEST_PAGE))
      return (await store.readLeases(namespace, first, count)).map(withoutSecret);
    const records = await this.list(namespace);
    return records.filter(({ id }) => id < 0 || (id >= first && id < first + count));
  }

  /**
   * Replaces `expected` by `next`. A caller that takes over a node id may give the digest of the expected owner.
   *
   * @param caller bounds what is written
   * @param birth the record of the namespace itself that must be there at the same moment, with the lineage of the store
   *
   * @returns `false` if the record has changed, or another holder has the node id
   * @throws RequestProblem 422 if the swap could let two holders mint the same ids
   */
  async swap(
    namespace: string,
    expected: LeaseRecord | undefined,
    next: LeaseRecord,
    caller: SwapCaller,
    birth?: LeaseRecord,
  ): Promise<boolean> {
    if (expected !== undefined && expected.id !== next.id)
      throw invalidRequest(`expected.id must equal next.id, which is ${next.id}, not ${expected.id}`);
    for (const field of ['owner', 'label'] as const)
      if (UNSTORABLE.test(next[field] ?? ''))
        throw invalidRequest(`next.${field} must be text without NUL and without half of a surrogate pair`);
    const isHidden = expected !== undefined && next.id >= 0 && isDigest(expected.owner);
    // The store itself compares an owner that is given in full.
    const stored = isHidden ? await this.#findByDigest(namespace, expected) : expected;
    if (isHidden && stored === undefined) return false;
    const isHolder = stored !== undefined && stored.owner !== null && stored.owner === expected?.owner;
    const floor = stored && this.#floors.of(namespace, stored);
    const { maxTtl } = guaranteesOf(this.#store);
    const namespaceTtl = next.id >= 0 ? await this.#limits.of(namespace) : undefined;
    const about = next.id === BIRTH_ID ? await this.#aboutBirth(namespace) : {};
    const now = await storeTime(this.#store);
    const { ttl, layouts } = this.#bounds;
    const bounds = { callerTtl: caller.isAdmin ? undefined : ttl, layout: layouts.get(namespace) };
    const context = { now, maxTtl: maxTtl ?? undefined, namespaceTtl, floor, ...bounds, ...about };
    const verdict = judgeSwap({ stored, next, isHolder }, context);
    if (verdict === 'taken') return false;
    if ('refusal' in verdict) {
      if (await this.#isUnchanged(namespace, next.id, stored)) throw invalidRequest(verdict.refusal);
      return false;
    }
    if (stored === undefined) await this.#begin(namespace, caller);
    const put = next.id >= 0 ? signed(verdict.put, caller.token) : verdict.put;
    const isSwapped = await (birth === undefined
      ? this.#store.swapLease(namespace, stored, put)
      : this.#claim(namespace, stored, put, birth));
    if (isSwapped && next.id >= 0) this.#floors.record(namespace, stored, put);
    return isSwapped;
  }

  /**
   * Frees the node ids that a token holds, in every namespace.
   *
   * @param areStopped true if an administrator says that the programs with the token have ended: then their windows end now, too
   * @throws RequestProblem 501 if the store cannot list its namespaces
   */
  async freeAll(token: string, areStopped: boolean): Promise<{ freed: number; until: number }> {
    const store = this.#store;
    if (store.namespaces === undefined)
      throw new RequestProblem(501, 'NOT_CONFIGURED', 'the store of this server cannot list its namespaces');
    let [freed, until] = [0, 0];
    for (const namespace of await store.namespaces()) {
      const records = await store.listLeases(namespace);
      const now = await storeTime(store);
      for (const record of records) {
        if (record.id < 0 || record.owner === null || tokenOf(record) !== token) continue;
        const fence = areStopped ? Math.min(record.fence, now + MAX_SKEW) : record.fence;
        if (!(await store.swapLease(namespace, record, { ...record, owner: null, fence, expiresAt: 0 })))
          continue;
        freed++;
        until = Math.max(until, fence);
      }
    }
    return { freed, until };
  }

  /** Counts a namespace that the caller begins. */
  async #begin(namespace: string, caller: SwapCaller): Promise<void> {
    if (this.#begun.has(namespace)) return;
    const store = this.#store;
    const records = await (store.readLeases?.(namespace, 0, LARGEST_PAGE) ?? store.listLeases(namespace));
    if (records.length === 0) caller.takeName();
    if (this.#begun.size >= MAX_BEGUN) this.#begun.clear();
    this.#begun.add(namespace);
  }

  /** The lineage of the store, and its clock. */
  async moment(namespace: string): Promise<{ now: number; lineage: string | null }> {
    const moment = await this.#store.moment?.(namespace);
    return { now: moment?.now ?? (await storeTime(this.#store)), lineage: moment?.lineage ?? null };
  }

  async #claim(
    namespace: string,
    stored: LeaseRecord | undefined,
    next: LeaseRecord,
    birth: LeaseRecord,
  ): Promise<boolean> {
    const store = this.#store;
    if (store.claimLease) return store.claimLease(namespace, stored, next, birth);
    // If the record of the namespace is the same after the claim, it was at the claim.
    return (await store.swapLease(namespace, stored, next)) && this.#isUnchanged(namespace, BIRTH_ID, birth);
  }

  /** The facts that a birth record is judged by. */
  async #aboutBirth(namespace: string): Promise<Pick<SwapContext, 'lineage' | 'storeFloor'>> {
    const lineage = (await this.#store.moment?.(namespace))?.lineage;
    if (lineage === undefined || namespace === STORE_NAMESPACE) return { lineage };
    const own = await readLease(this.#store, STORE_NAMESPACE, BIRTH_ID);
    return { lineage, storeFloor: own?.fence };
  }

  /** Finds the record that equals `expected`, whose owner is a digest. */
  async #findByDigest(namespace: string, expected: LeaseRecord): Promise<LeaseRecord | undefined> {
    const stored = await readLease(this.#store, namespace, expected.id);
    if (stored === undefined || stored.owner === null) return undefined;
    const { owner } = stored;
    const isOwner = owner === expected.owner || digestOf(owner) === expected.owner;
    return isOwner && isSame({ ...expected, owner }, stored) ? stored : undefined;
  }

  async #isUnchanged(namespace: string, id: number, stored: LeaseRecord | undefined): Promise<boolean> {
    const record = await readLease(this.#store, namespace, id);
    return stored === undefined ? record === undefined : record !== undefined && isSame(record, stored);
  }
}

// The label of a record ends with the token that wrote the record, so that the node ids of a token can be found.

/** The largest difference between the clocks of a holder and of the store that is allowed for, ms. */
const MAX_SKEW = 10_000;

/** The longest label that every store can keep. */
const MAX_LABEL = 255;

function signed(record: LeaseRecord, token: string): LeaseRecord {
  if (token === '') return record;
  const end = ` [token ${token}]`;
  return { ...record, label: record.label.slice(0, MAX_LABEL - end.length) + end };
}

/** The id of the token that wrote a record, if a token did. */
const tokenOf = ({ label }: LeaseRecord) => / ?\[token (\w+)\]$/.exec(label)?.[1];

// The owner of a lease is a secret: with it, the holder renews and releases the lease. Others see a digest of the owner.

/** 128 bits of the SHA-256 of an owner. `httpStore` makes the same digests. */
function digestOf(owner: string): string {
  return `sha256:${createHash('sha256').update(owner).digest('hex').slice(0, 32)}`;
}

function isDigest(owner: string | null): owner is string {
  return owner !== null && /^sha256:[0-9a-f]{32}$/.test(owner);
}

/** The record with a digest for its owner. Records of the namespace itself, with ids below 0, hold no secret. */
function withoutSecret(record: LeaseRecord): LeaseRecord {
  const { id, owner } = record;
  return id < 0 || owner === null ? record : { ...record, owner: digestOf(owner) };
}

/**
 * The time for which a limit is remembered, ms. A store that has lost a namespace may get another limit, but nobody can use the new
 * namespace so soon.
 */
const LIFETIME = 1000;

/** The most namespaces to remember. */
const MAX_KNOWN = 1000;

/** The longest ttl of each namespace on a store that can forget: the first client of a namespace sets it in the birth record. */
export class NamespaceLimits {
  readonly #store: Store;
  readonly #known = new Map<string, { readonly ttl: number; readonly at: number }>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The longest ttl, ms; `undefined` on a durable store and in a namespace without a limit. */
  async of(namespace: string): Promise<number | undefined> {
    if (this.#store.durable !== false) return undefined;
    const known = this.#known.get(namespace);
    if (known !== undefined && performance.now() - known.at < LIFETIME) return known.ttl;
    this.#known.delete(namespace);
    const at = performance.now();
    const birth = await readLease(this.#store, namespace, BIRTH_ID);
    // Zero is from a client that states no limit.
    if (birth === undefined || birth.fence === UNDATED || birth.epoch === 0) return undefined;
    this.#known.set(namespace, { ttl: birth.epoch, at });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN) this.#known.delete(oldest as string);
    return birth.epoch;
  }
}

/** Reads one record of a namespace, without the others where the store can. */
async function readLease(store: Store, namespace: string, id: number): Promise<LeaseRecord | undefined> {
  // A page always has the records of the namespace itself, whose ids are below 0.
  const records = store.readLeases
    ? await store.readLeases(namespace, Math.max(0, id), 1)
    : await store.listLeases(namespace);
  return records.find((each) => each.id === id);
}
