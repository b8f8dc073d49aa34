// JSON bodies of the server's routes, as they arrive. 64-bit numbers are text.

export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

type Family =
  | ('locality' | 'uuid' | 'flake' | 'key' | 'public' | 'sequence')
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
  /** The ids that this server has handed out since its start. */
  readonly handedOut: number;
  /** The start of this server, Unix ms. */
  readonly since: number;
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
}
