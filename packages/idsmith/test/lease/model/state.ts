// What the model remembers of the world. States are never changed: each step makes a new one.

import type { LeaseRecord } from '../../../src/lease/port.ts';
import type { Candidate } from '../../../src/lease/protocol.ts';

/** How large a world to look at. Time is in small whole numbers. */
export interface World {
  readonly processes: number;
  readonly nodes: number;
  /** Whether the store keeps what it has acknowledged. If not, it may lose everything at any moment. */
  readonly durable: boolean;
  /** Whether the store has a clock; if not, each process goes by its own. */
  readonly storeClock: boolean;
  readonly ttl: number;
  readonly maxTtl: number;
  readonly maxSkew: number;
  /** By how much a process's clock may be off, at any moment, either way. */
  readonly clockError: number;
  /** Whether ids follow the clock back within their window, as locality UUIDs do. If not they increase, as flakes do. */
  readonly followsClock: boolean;
  /** Where time ends. */
  readonly end: number;
  /** What holders do, beside holding. */
  readonly mints: boolean;
  readonly renews: boolean;
  readonly releases: boolean;
  /** How often something may fail: a crash, a message that is lost, late or repeated, a store that forgets, a copy. */
  readonly faults: number;
  /** Whether a fault may be that a process is copied, with all it knows, in the place of one that has nothing. */
  readonly copies?: boolean;
  /** Whether the store tells its lineage, and may once go back to an earlier state, as by the promotion of a replica that is behind. */
  readonly rewinds?: boolean;
  /** What each process takes for the longest ttl, and uses for its own, where they do not agree. */
  readonly limits?: readonly number[];
  /** In a world with rewinds: processes note a longer ttl than that of the namespace. All others wait for `usual` at least after a loss. */
  readonly notes?: { readonly usual: number /** The longest loss. */; readonly covered: number };
}

/** A request to swap a record, on its way to the store. */
export interface Swap {
  readonly expected: LeaseRecord | undefined;
  readonly next: LeaseRecord;
  /** The namespace's own record, if the swap compares it, and the store's lineage with it. */
  readonly birth?: LeaseRecord | undefined;
}

/** What an acquisition remembers between its requests. */
export interface Acquiring {
  readonly owner: string;
  /** What was listed. */
  readonly records?: readonly LeaseRecord[];
  readonly now?: number;
  /** The lineage that the store told with the time. */
  readonly lineage?: number;
  readonly birth?: LeaseRecord | undefined;
  readonly left?: readonly Candidate[];
  readonly from?: number;
}

/** What a store with a lineage told before a renewal. */
export interface Told {
  readonly sentAt?: number | undefined;
  readonly lineage?: number | undefined;
}

/** What a process waits for, or has to do next. */
export type Task =
  | { readonly kind: 'acquire'; readonly acquiring: Acquiring }
  | { readonly kind: 'verify'; readonly acquiring: Acquiring; readonly claim: LeaseRecord }
  | ({ readonly kind: 'look'; readonly why: 'renew' | 'release' } & Told)
  | SwapTask;

export type SwapTask = Swap &
  Told & {
    readonly kind: 'swap';
    readonly why: 'birth' | 'claim' | 'renew' | 'release' | 'release-again';
    /** What the store answered, if the request has been executed. */
    readonly answer?: boolean;
    readonly acquiring?: Acquiring;
  };

export interface Held {
  readonly record: LeaseRecord;
  readonly from: number;
  /** Renewals that were sent and not heard of. */
  readonly attempts: readonly LeaseRecord[];
  /** Where the window ends that a copy was made of, 0 if none was: what lies before counts for neither. */
  readonly copiedUntil: number;
  /** In a world with rewinds: the lineage in which the record is known to be whole. */
  readonly lineage?: number | undefined;
  /** In a world with notes: the time of the first renewal. */
  readonly notedAt?: number | undefined;
}

export interface Process {
  /** The longest ttl, as far as it knows. */
  readonly limit: number;
  /** The ttl that it uses. */
  readonly ttl: number;
  readonly task?: Task | undefined;
  /** The lease, as the process knows it. */
  readonly held?: Held | undefined;
  /** Whether `release()` was called, and whether minting has ended. */
  readonly releasing: boolean;
  readonly closed: boolean;
  /** The last timestamp that its generator used, as a release tells it. */
  readonly lastUsed: number;
  /** Where its generator may go on. Flakes increase, whatever the node id; locality UUIDs are held by their window alone. */
  readonly floor: number;
  /** For a generator that follows the clock: the timestamps that it has used in its present window, as bits. */
  readonly stamped: number;
}

export interface State {
  /** The store's time. */
  readonly time: number;
  /** The namespace's own record first, then those of the node ids. */
  readonly records: readonly (LeaseRecord | undefined)[];
  readonly processes: readonly Process[];
  /** Requests that nobody waits for any more: late ones, and the repetitions of others. */
  readonly strays: readonly Swap[];
  /** For each node id the timestamps that were used, as bits. */
  readonly used: readonly number[];
  /** How many faults are left. */
  readonly faults: number;
  /** For the next owner's name. */
  readonly names: number;
  /** How often the store has gone back. */
  readonly lineage: number;
  /** The records of a replica that gets no more changes; `undefined` while it gets them all. */
  readonly replica?: readonly (LeaseRecord | undefined)[] | undefined;
  /** The time when the replica fell behind. */
  readonly behindSince?: number | undefined;
}

/** Names a step of one process: what it does, what it is afterwards, and what else is then different. */
export type Put = (what: string, next: Process, rest?: Partial<State>) => void;

/** The process again, as it starts. */
export function restarted({ ttl, limit }: Process): Process {
  return { releasing: false, closed: false, lastUsed: -1, floor: 0, stamped: 0, ttl, limit };
}

/** A store with nothing in it, and processes that have not started. */
export function initialState({ processes, nodes, maxSkew, faults, ttl, maxTtl, limits }: World): State {
  const start = { releasing: false, closed: false, lastUsed: -1, floor: 0, stamped: 0 };
  return {
    time: maxSkew,
    records: Array<undefined>(nodes + 1).fill(undefined),
    processes: Array.from({ length: processes }, (_, p) => ({
      ...start,
      ttl: limits?.[p] ?? ttl,
      limit: limits?.[p] ?? maxTtl,
    })),
    strays: [],
    used: Array<number>(nodes).fill(0),
    faults,
    names: 0,
    lineage: 0,
  };
}

/** What a process may still mint: timestamps of `node`, from `from` on and before `until`. */
export interface Usable {
  readonly node: number;
  readonly from: number;
  readonly until: number;
}

const NOTHING: Usable = { node: -1, from: 0, until: 0 };

export function usable({ held, closed, floor }: Process): Usable {
  if (!held || closed) return NOTHING;
  const from = Math.max(held.from, floor, held.copiedUntil);
  return { node: held.record.id, from, until: held.record.fence };
}
