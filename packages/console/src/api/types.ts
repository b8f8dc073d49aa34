// JSON bodies of the server's routes, as they arrive. 64-bit numbers are text.

export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

type Family =
  | ('locality' | 'uuid' | 'flake' | 'key' | 'public' | 'sequence' | 'series')
  | ('typeid' | 'ulid' | 'ksuid' | 'objectid' | 'xid' | 'nanoid');

/** One way to read an id. */
export interface Reading {
  readonly family: Family;
  /** The reason for the reading. */
  readonly reason?: string;
  readonly fields: Readonly<Record<string, string | number>>;
}

export interface Inspection {
  readonly id: string;
  readonly readings: readonly Reading[];
  /** Servers of earlier versions do not tell. */
  readonly makers?: readonly MakerJson[];
}

/** The holder of the node id of a flake at its time. */
export interface MakerJson {
  readonly namespace: string;
  readonly layout: string;
  readonly node: number;
  readonly term: number;
  readonly label: string;
  /** First seen, Unix ms. */
  readonly from: number;
  /** Last seen, Unix ms. */
  readonly to: number;
  readonly isHeld: boolean;
  /** False if the server may have missed the true holder. */
  readonly isCertain: boolean;
}

export interface SequenceJson {
  readonly name: string;
  /** `null` when another program defined the sequence. */
  readonly start: string | null;
  readonly next: string;
  readonly blockSize: number;
  readonly step: number;
  readonly min: string;
  readonly max: string;
  readonly cycle: boolean;
  readonly exhausted: boolean;
  /** Ids in the store that blocks will reach; `null` for a cycle. Servers of earlier versions do not tell. */
  readonly remaining?: string | null;
  /** Ids at the end that only a smaller block size reaches. */
  readonly stranded?: string;
  /** When the sequence runs out, from the history of the server. */
  readonly forecast?: ForecastJson | null;
  /** The ids that this server has handed out since its start. */
  readonly handedOut: number;
  /** The start of this server, Unix ms. */
  readonly since: number;
}

/** The end of a sequence, if it is used as it was. */
export interface ForecastJson {
  /** 0 at the end; `null` if the sequence is not used, or has no end. */
  readonly seconds: number | null;
  /** Ids a second that leave the store, for everybody. */
  readonly rate: number;
  /** The length of the history behind it, seconds. */
  readonly over: number;
  readonly confidence: 'none' | 'low' | 'medium' | 'high';
}

/** A page of the list of sequences. */
export interface SequencePageJson {
  readonly sequences: readonly SequenceJson[];
  /** The number of sequences on all pages. */
  readonly total: number;
  /** The cursor of the next page; `null` on the last page. */
  readonly cursor: string | null;
}

/** The part of the list of sequences to load. */
export interface SequenceQuery {
  /** Only sequences whose names contain this text. */
  readonly q?: string;
  readonly sort?: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The settings that define or alter a sequence. */
export type SequenceChanges = Partial<{
  name: string;
  start: string;
  next: string;
  blockSize: number;
  step: number;
  min: string;
  max: string;
  cycle: boolean;
}>;

/** A series of the store. */
export interface SeriesJson {
  readonly name: string;
  /** The number of counters: one for each tenant and period. */
  readonly total: number;
  /** The counters of the latest periods. */
  readonly counters: readonly {
    readonly tenant: string | null;
    /** Empty for a series without periods. */
    readonly period: string;
    /** The sequence that counts. */
    readonly sequence: string;
    readonly next: string;
  }[];
}

/** The options of a series, for its next numbers. */
export interface SeriesRequest {
  readonly format: string;
  readonly period: string;
  readonly tenant?: string;
}

export interface LeaseJson {
  /** Records below 0 belong to the namespace itself: −1 its date, −2 its layout. */
  readonly id: number;
  /** A digest of the owner; `null` when the node id is free. */
  readonly owner: string | null;
  /** The term of the lease: grows by one with each new holder. */
  readonly epoch: number;
  readonly fence: number;
  readonly expiresAt: number;
  readonly label: string;
}

export interface LeasesJson {
  readonly namespace: string;
  /** The store's clock, Unix ms. */
  readonly now: number;
  readonly durable: boolean;
  readonly leases: readonly LeaseJson[];
  /** The records of the namespace itself, with ids below 0. */
  readonly own: readonly LeaseJson[];
  readonly layout?: string | null;
  /** All node ids are below this number; `null` where the namespace remembers no layout. */
  readonly size?: number | null;
  /** The first and the last node id; `null` where the namespace has no range of its own. */
  readonly nodes?: readonly [first: number, last: number] | null;
}

/** A namespace of the store. */
export interface NamespaceJson {
  readonly namespace: string;
  readonly layout: string | null;
  readonly size: number | null;
  readonly held: number;
  readonly expired: number;
  /** The node ids that anybody has ever held. */
  readonly used: number;
}

/** A node id in the hands of one holder, as the server has seen it. */
export interface TermJson {
  readonly node: number;
  readonly term: number;
  readonly label: string;
  /** First seen, Unix ms. */
  readonly from: number;
  /** True if the holder came while the server was looking. */
  readonly isFromExact: boolean;
  /** Last seen, Unix ms. */
  readonly to: number;
  readonly isHeld: boolean;
  readonly fence: number;
}

/** Values that end at `end` (Unix seconds), `step` seconds apart. */
interface PointsJson {
  readonly end: number;
  readonly step: number;
  readonly values: readonly (number | null)[];
}

/** The past of the server or of a sequence. */
export interface HistoryJson {
  readonly since: number | null;
  readonly series: Readonly<Record<string, PointsJson>>;
}

/** The length of a history. */
export type Span = 'hour' | 'day';

/** An administrative change. */
export interface ChangeJson {
  readonly at: number;
  readonly action: string;
  readonly subject: string;
  readonly token: string | null;
  readonly tokenId: string | null;
  readonly requestId: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** A shard of the server. */
export interface ShardJson {
  readonly name: string;
  readonly ringName: string;
  readonly address: string;
  readonly weight: number;
  /** Why the node does not answer; `null` if it does. All fields below are `null` otherwise. */
  readonly error: string | null;
  /** Milliseconds. */
  readonly latency: number | null;
  /** Its clock minus the clock of the server, ms. */
  readonly clockAhead: number | null;
  readonly keys: number | null;
  readonly minting: 'open' | 'idle' | 'reserved' | 'closed' | 'foreign' | null;
}

/** A resharding of the server's shards. */
export interface ReshardingJson {
  readonly phase: 'preparing' | 'moving' | 'done' | 'stopping' | 'returning' | 'aborted';
  readonly about: string;
  readonly progress: {
    readonly moved: number;
    readonly scanned: number;
    readonly total: number;
    readonly rate: number;
    readonly left: number | null;
    /** Milliseconds since the run said so. */
    readonly age: number;
  } | null;
}

/** The shards of the server; without nodes if it has none. */
export interface RingJson {
  readonly file: string | null;
  readonly isCluster: boolean;
  readonly nodes: readonly ShardJson[];
  readonly resharding: ReshardingJson | null;
}

/** The scopes of tokens. */
export type Scope = 'mint' | 'lease' | 'admin';

/** A prefix of public ids. */
export interface PublicPrefix {
  readonly prefix: string;
  /** The ids inside: numbers of 64 bits, or UUIDs. */
  readonly of: 'int64' | 'uuid';
  readonly short: boolean;
}

/** Minted ids. */
export interface MintedJson {
  /** The ids, or their public ids if the request has a prefix. */
  readonly ids: readonly string[];
  /** The ids inside the public ids. */
  readonly plain?: readonly string[];
}

export interface ServerJson {
  readonly version: string;
  readonly layout: string;
  readonly now: number;
  readonly durable: boolean;
  readonly leases: readonly {
    readonly family: string;
    readonly namespace: string;
    readonly state: string;
    readonly node: number | null;
    /** Seconds until the fence. */
    readonly left: number;
  }[];
  readonly limits: { readonly count: number };
  /** The prefixes of public ids; empty without keys. A server of an earlier version does not tell. */
  readonly publicIds?: readonly PublicPrefix[];
  /** The scopes of the token in use; all scopes where no tokens are in use. */
  readonly scopes: readonly Scope[];
  /** The token in use; `null` where no tokens are in use. */
  readonly token?: { readonly name: string; readonly expires: number | null } | null;
  /** The start of the server, Unix ms. */
  readonly started?: number;
  /** The reason why the server is not ready; `null` if it is. */
  readonly ready?: { readonly code: string; readonly detail: string } | null;
}
