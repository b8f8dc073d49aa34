import type { LeasedFlakeOptions } from '../flake/leased.js';
import type { LeaseOptions } from '../lease/options.js';
import type { LocalityOptions } from '../locality/options.js';
import type { SequenceOptions } from '../sequence/port.js';
import type { SequenceUse } from '../sequence/sequences.js';
import type { SequenceStatus } from '../sequence/status.js';
import type { Uuid7Options } from '../uuid7/options.js';

/** Options of `connect`. */
export interface ConnectOptions {
  /** Ends the attempt to connect. The promise then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** The label of every lease that has none of its own: a text for people. Default host and process id. */
  readonly label?: string;
}

/** Options of `Ids.flakes`. */
export type FlakesOptions = Omit<LeasedFlakeOptions, 'namespace'>;

/** Options of `Ids.locality`. */
export interface LeasedLocalityOptions
  extends Omit<LeaseOptions, 'namespace' | 'size' | 'layout'>,
    Omit<LocalityOptions, 'node'> {}

/** Options of `Ids.uuid7`. Those of leases need a namespace. */
export interface LeasedUuid7Options
  extends Omit<LeaseOptions, 'namespace' | 'size' | 'layout'>,
    Omit<Uuid7Options, 'node'> {}

/** Options of `Ids.sequence`. */
export interface SequenceOpening extends SequenceUse {
  /** Defines the sequence unless it exists, as `Sequences.ensure` does. */
  readonly define?: SequenceOptions;
  /** Ends the wait. The promise then rejects with the reason of the signal. A definition under way may still be made. */
  readonly signal?: AbortSignal;
}

/** The state of one lease. */
export interface LeaseStatus {
  readonly family: 'flake' | 'locality' | 'uuid7';
  readonly namespace: string;
  /** The node id. */
  readonly node: number;
  readonly state: 'active' | 'fenced' | 'released';
  /** The first timestamp that may no longer go into an id. */
  readonly until: number;
  /** The time to `until`, ms; 0 when it has passed. */
  readonly left: number;
}

/** The state of everything that an `Ids` has handed out. */
export interface IdsStatus {
  /**
   * True when every lease that was asked for is there and active, and nothing is closed. Sequences do not count: only a call for an
   * id fetches again after a failure, and a process that is not ready gets no calls.
   */
  readonly ready: boolean;
  readonly leases: readonly LeaseStatus[];
  /** The supply of every sequence that is open. */
  readonly sequences: readonly SequenceStatus[];
  /** The last error of an acquisition, a renewal or a replacement. It stays after a recovery. */
  readonly lastError?: unknown;
}
