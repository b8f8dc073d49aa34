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
}
