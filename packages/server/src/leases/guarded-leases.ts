import type { LeaseRecord, Store } from 'idsmith';
import { invalid } from '../http/problem.js';
import { Floors, isSame } from './fence-floors.js';
import { digestOf, isDigest, withoutSecret } from './owner-digest.js';
import { judge } from './swap-policy.js';

/** What a store that can forget allows if it names no longest ttl, ms. */
const DEFAULT_MAX_TTL = 60_000;

/** What callers must know of a store to be as careful as if they had it at hand. */
export function trustIn(store: Store): { durable: boolean; maxTtl: number | null } {
  const durable = store.durable !== false;
  return { durable, maxTtl: durable ? null : (store.maxTtl ?? DEFAULT_MAX_TTL) };
}

/** The store's clock, or this machine's where it has none. */
export async function timeOf(store: Store): Promise<number> {
  return (await store.now?.()) ?? Date.now();
}

/** The leases of a store, for callers who are not trusted: owners are not shown, and swaps are judged. */
export class GuardedLeases {
  readonly #store: Store;
  readonly #floors = new Floors();

  constructor(store: Store) {
    this.#store = store;
  }

  async list(namespace: string): Promise<LeaseRecord[]> {
    return (await this.#store.listLeases(namespace)).map(withoutSecret);
  }

  /**
   * Puts `next` in the place of `expected`, whose owner may be given by its digest where a node id is taken over.
   *
   * @returns whether it did: `false` when the record is another one by now, or somebody holds it
   * @throws RequestProblem when it is what no lease ever does, for it would let two holders mint the same ids
   */
  async swap(namespace: string, expected: LeaseRecord | undefined, next: LeaseRecord): Promise<boolean> {
    if (expected !== undefined && expected.id !== next.id)
      throw invalid(`expected.id must be next.id, which is ${next.id}, not ${expected.id}`);
    const isHidden = expected !== undefined && next.id >= 0 && isDigest(expected.owner);
    // An owner that is given in full the store itself compares.
    const stored = isHidden ? await this.#find(namespace, expected) : expected;
    if (isHidden && stored === undefined) return false;
    const isHolder = stored !== undefined && stored.owner !== null && stored.owner === expected?.owner;
    const floor = stored && this.#floors.of(namespace, stored);
    const { maxTtl } = trustIn(this.#store);
    const terms = { now: await timeOf(this.#store), maxTtl: maxTtl ?? undefined, floor };
    const verdict = judge({ stored, next, isHolder }, terms);
    if (verdict === 'taken') return false;
    if ('refusal' in verdict) {
      if (await this.#isThere(namespace, next.id, stored)) throw invalid(verdict.refusal);
      return false;
    }
    const isSwapped = await this.#store.swapLease(namespace, stored, verdict.put);
    if (isSwapped && next.id >= 0) this.#floors.note(namespace, stored, verdict.put);
    return isSwapped;
  }

  /** The record that is as expected, but for its owner, whose digest was given. */
  async #find(namespace: string, expected: LeaseRecord): Promise<LeaseRecord | undefined> {
    const stored = await this.#record(namespace, expected.id);
    if (stored === undefined || stored.owner === null) return undefined;
    const { owner } = stored;
    const isMeant = owner === expected.owner || digestOf(owner) === expected.owner;
    return isMeant && isSame({ ...expected, owner }, stored) ? stored : undefined;
  }

  async #isThere(namespace: string, id: number, stored: LeaseRecord | undefined): Promise<boolean> {
    const record = await this.#record(namespace, id);
    return stored === undefined ? record === undefined : record !== undefined && isSame(record, stored);
  }

  async #record(namespace: string, id: number): Promise<LeaseRecord | undefined> {
    return (await this.#store.listLeases(namespace)).find((each) => each.id === id);
  }
}
