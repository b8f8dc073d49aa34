import type { LeasedFlakeOptions } from '../flake/options.js';
import type { NodeWait } from '../lease/node-wait.js';
import type { LeaseOptions } from '../lease/options.js';
import type { LocalityOptions } from '../locality/options.js';
import type { IdForm } from '../options.js';
import type { SequenceOptions } from '../sequence/port.js';
import type { SequenceStatus } from '../sequence/sequence.js';
import type { SequenceUse } from '../sequence/sequences.js';
import type { Uuid7Options } from '../uuid7/generator.js';

/** Options of `connect`. */
export interface ConnectOptions {
  /** Ends the attempt to connect. The promise then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** The label of every lease that has none of its own: a text for people. Default host and process id. */
  readonly label?: string | undefined;
  /**
   * True gives every caller of this process that names the same URL with `shared` the same object while it is open, for modules that hot
   * reload evaluates again. `close()` then closes it for all of them. Default `false`.
   */
  readonly shared?: boolean | undefined;
}

/** The options of every generator on a lease. */
interface PoolOptions {
  /**
   * A pool of node ids of its own. Ids of two namespaces may be equal. Default the pool that all generators of the family share: the one
   * of the layout, `'locality'` or `'uuid7'`.
   */
  readonly namespace?: string | undefined;
  /**
   * The name of a further generator with a node id of its own from the same pool: for more ids per millisecond than one node id has.
   * Default an empty text, the first generator.
   */
  readonly instance?: string | undefined;
}

/** Options of `Ids.flakes`. */
export interface FlakesOptions<F extends IdForm = 'bigint'>
  extends Omit<LeasedFlakeOptions<F>, 'namespace'>,
    PoolOptions {}

/** Options of `Ids.locality`. */
export interface LeasedLocalityOptions
  extends Omit<LeaseOptions, 'namespace' | 'size' | 'nodes' | 'layout'>,
    Omit<LocalityOptions, 'node'>,
    PoolOptions {}

/** Options of `Ids.uuid7`. Those of leases need a name or a namespace. */
export interface LeasedUuid7Options
  extends Omit<LeaseOptions, 'namespace' | 'size' | 'nodes' | 'layout'>,
    Omit<Uuid7Options, 'node'>,
    PoolOptions {}

/** Options of `Ids.sequence`. */
export interface SequenceOpening<F extends IdForm = 'bigint'> extends SequenceUse<F> {
  /** Defines the sequence unless it exists, as `Sequences.ensure` does. */
  readonly define?: SequenceOptions | undefined;
  /** Ends the wait. The promise then rejects with the reason of the signal. A definition under way may still be made. */
  readonly signal?: AbortSignal | undefined;
}

/** The state of one lease. */
export interface LeaseStatus {
  readonly family: 'flake' | 'locality' | 'uuid7';
  /** The pool of the node id. */
  readonly namespace: string;
  readonly instance: string;
  /** The names that the generator was opened with. Names with the same options share one. */
  readonly names: readonly string[];
  /** The node id. */
  readonly node: number;
  readonly state: 'active' | 'fenced' | 'released';
  /** The first timestamp that may no longer go into an id. */
  readonly until: number;
  /** The time to `until`, ms; 0 when it has passed. */
  readonly left: number;
}

/** A lease that was asked for and is not there: it is being acquired, or the last attempt has failed. */
export interface MissingLease extends Pick<LeaseStatus, 'family' | 'namespace' | 'instance' | 'names'> {
  /** The wait for a node id that is under way, and its end, Unix ms. */
  readonly wait?: NodeWait & { readonly until: number };
  /** The error of the last attempt, if that has failed. */
  readonly error?: unknown;
}

/** The state of everything that an `Ids` has handed out. */
export interface IdsStatus {
  /**
   * True when every lease that was asked for is there and active, and nothing is closed. Sequences do not count: only a call for an
   * id fetches again after a failure, and a process that is not ready gets no calls.
   */
  readonly ready: boolean;
  readonly leases: readonly LeaseStatus[];
  /** The leases that were asked for and are not there. */
  readonly missing: readonly MissingLease[];
  /** The ids at hand of every sequence that is open. */
  readonly sequences: readonly SequenceStatus[];
  /** True if the store keeps every acknowledged write in spite of any crash, as far as it knows. */
  readonly durable: boolean;
  /** The lineage that the store has told last: it changes when acknowledged writes may be gone. Absent until the store has told one. */
  readonly lineage?: string;
  /** What an operator should know of the store: losses that were found, and sequences that a loss could repeat. */
  readonly warnings: readonly string[];
  /** The last error of an acquisition, a renewal or a replacement. It stays after a recovery. */
  readonly lastError?: unknown;
}
