import type { Clock } from '../clock.js';
import type { Lease } from '../lease/lease.js';
import type { Layout, LayoutOptions } from './layout.js';
import type { SlotHandle } from './tick-table.js';

/** The options of a `FlakeGenerator`. */
export interface FlakeOptions {
  /** Default `layouts.jflake`. */
  layout?: Layout;
  /**
   * A fixed node id, which no other process may use, or a lease, which gives each process its own. Generators of one
   * process with the same layout and fixed node, on the machine's clock, share the node and never repeat an id.
   */
  node: number | Lease;
  /** Default the machine's clock. With another clock, generators with the same fixed node are not kept apart. */
  clock?: Clock;
  /**
   * The action when all sequence numbers of a tick are used: `'wait'` (default) spins to the next tick, `'borrow'` uses the
   * next tick early, up to `maxBackward` ahead of the clock. `'borrow'` needs a lease: after a restart a fixed node could
   * repeat borrowed ids.
   */
  onFull?: 'wait' | 'borrow';
  /** The action when the clock steps back: `'hold'` (default) continues from the last tick, `'throw'` throws a `ClockError`. */
  onClockBack?: 'hold' | 'throw';
  /** The largest step back that `'hold'` accepts, ms. Default 10,000. */
  maxBackward?: number;
}

/**
 * The handle from `share()` for `attach()`: plain data and shared memory. Post it to worker threads, for example as
 * `workerData`.
 */
export interface SharedFlake {
  /** The last tick and sequence number, and the lease's window. */
  readonly state: SharedArrayBuffer;
  readonly layout: Required<LayoutOptions>;
  readonly onFull: 'wait' | 'borrow';
  readonly onClockBack: 'hold' | 'throw';
  readonly maxBackward: number;
  /**
   * The table in which generators with the same fixed node claim ticks.
   *
   * @internal
   */
  readonly turns?: SlotHandle;
}
