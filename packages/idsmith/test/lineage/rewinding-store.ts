import { type LeaseRecord, sameRecord } from '../../src/lease/port.js';
import type { Ceiling } from '../../src/lineage/ceiling.js';
import type { Moment } from '../../src/lineage/judge.js';
import { canMove, type SequenceRow } from '../../src/sequence/blocks.js';
import type { CeilingRecords } from '../../src/sequence/past.js';
import { isLike, type SequenceRows, sequenceStore } from '../../src/sequence/rows.js';
import { makeStore } from '../../src/stores/make-store.js';

/** Everything that the store keeps. */
export interface Content {
  readonly rows: Map<string, SequenceRow>;
  readonly pasts: Map<string, Ceiling>;
  readonly leases: Map<string, Map<number, LeaseRecord>>;
}

const copyOf = ({ rows, pasts, leases }: Content): Content => ({
  rows: new Map(rows),
  pasts: new Map(pasts),
  leases: new Map([...leases].map(([name, records]) => [name, new Map(records)])),
});

/** A server in memory that tells its lineage, and that can be set back to an earlier state, as by the promotion of a replica that is behind. */
export class RewindingServer {
  #content: Content = { rows: new Map(), pasts: new Map(), leases: new Map() };
  #promotions = 0;
  #lineage = 'life 0';
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get lineage(): string {
    return this.#lineage;
  }

  copy(): Content {
    return copyOf(this.#content);
  }

  /** Goes on with an earlier state, in a lineage of its own or in one of before. */
  promote(replica: Content, lineage = `life ${++this.#promotions}`): void {
    this.#content = copyOf(replica);
    this.#lineage = lineage;
  }

  /** Goes on with an earlier state, and does not tell. */
  restoreSilently(replica: Content): void {
    this.#content = copyOf(replica);
  }

  /** A connection of one process. */
  connect() {
    const moment = (): Moment => ({ now: this.#now(), lineage: this.lineage });
    const isPresent = (lineage: string | undefined) => lineage === this.lineage;
    const recordsOf = (namespace: string) => {
      const records = this.#content.leases.get(namespace) ?? new Map<number, LeaseRecord>();
      this.#content.leases.set(namespace, records);
      return records;
    };
    const swap = (namespace: string, expected: LeaseRecord | undefined, next: LeaseRecord) => {
      if (next.id === -1 && !isPresent(next.label)) return false;
      const records = recordsOf(namespace);
      if (!sameRecord(records.get(next.id), expected)) return false;
      records.set(next.id, next);
      return true;
    };
    return makeStore('memory', {
      durable: true,
      maxTtl: 1000,
      now: async () => this.#now(),
      moment: async () => moment(),
      listLeases: async (namespace) => [...recordsOf(namespace).values()],
      swapLease: async (namespace, expected, next) => swap(namespace, expected, next),
      claimLease: async (namespace, expected, next, birth) =>
        isPresent(birth.label) &&
        sameRecord(recordsOf(namespace).get(-1), birth) &&
        swap(namespace, expected, next),
      ...sequenceStore(this.rows()),
    });
  }

  /** The rows of its sequences, and their ceilings. */
  rows(): SequenceRows & { readonly past: CeilingRecords } {
    const past: CeilingRecords = {
      hasCeilings: true,
      read: async (name) => ({
        now: this.#now(),
        lineage: this.lineage,
        past: this.#content.pasts.get(name),
      }),
      write: async (name, expected, next) => {
        if (this.#content.pasts.get(name) !== expected || next.lineage !== this.lineage) return false;
        this.#content.pasts.set(name, next);
        return true;
      },
    };
    const isIn = (lineage: string | undefined) => lineage === undefined || lineage === this.lineage;
    const present = (row: SequenceRow | undefined) => row && { ...row, lineage: this.lineage };
    const find = (name: string) => present(this.#content.rows.get(name));
    return {
      past,
      insert: async (row) => {
        if (this.#content.rows.has(row.name) || !isIn(row.lineage)) return false;
        return !!this.#content.rows.set(row.name, row);
      },
      read: async (name) => find(name),
      list: async () => [...this.#content.rows.keys()].map((name) => find(name) as SequenceRow),
      swap: async (expected, next) => {
        if (!isLike(find(expected.name), expected, [])) return false;
        return !!this.#content.rows.set(next.name, next);
      },
      delete: async ({ name, generation }) =>
        find(name)?.generation === generation && this.#content.rows.delete(name),
      advance: async (from, move, to) => {
        const row = find(from.name);
        const isAllocation = to === from;
        if (!isLike(row, from, isAllocation ? ['next', 'mark'] : ['next']) || !canMove(row, move))
          return undefined;
        const { mark } = isAllocation ? row : to;
        this.#content.rows.set(row.name, { ...to, mark, next: row.next + move.delta });
        return row.next;
      },
    };
  }
}
