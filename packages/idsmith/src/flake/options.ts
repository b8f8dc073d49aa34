import type { Clock } from '../clock.js';
import type { Lease } from '../lease/lease.js';
import type { LeaseOptions } from '../lease/options.js';
import type { Complete, IdForm } from '../options.js';
import type { LayoutOptions } from './decode.js';
import type { Layout } from './layout.js';
import type { SlotHandle } from './tick-table.js';

/** The options of a `FlakeGenerator`. */
export interface FlakeOptions<F extends IdForm = 'bigint'> {
  /** Default `layouts.jflake`. */
  layout?: Layout | undefined;
  /**
   * A fixed node id, which no other process may use, or a lease, which gives each process its own. Generators of one
   * process with the same layout and fixed node, on the machine's clock, share the node and never repeat an id.
   */
  node: number | Lease;
  /** Default the machine's clock. With another clock, generators with the same fixed node are not kept apart. */
  clock?: Clock | undefined;
  /**
   * The action when all sequence numbers of a tick are used: `'wait'` (default) spins to the next tick, `'borrow'` uses the
   * next tick early, up to `maxBackward` ahead of the clock. `'borrow'` needs a lease: after a restart a fixed node could
   * repeat borrowed ids.
   */
  onFull?: 'wait' | 'borrow' | undefined;
  /** The action when the clock steps back: `'hold'` (default) continues from the last tick, `'throw'` throws a `ClockError`. */
  onClockBack?: 'hold' | 'throw' | undefined;
  /** The largest step back that `'hold'` accepts, ms. Default 10,000. */
  maxBackward?: number | undefined;
  /**
   * The type of the ids from `next()`, `nextAsync()` and `batch()`: `'bigint'` (default), `'string'` (decimal digits, for JSON), or
   * `'number'`, which needs a layout of at most 53 bits.
   */
  as?: F | undefined;
}

/** The options of `leaseFlakes`: those of the generator and of its lease. The layout decides the number of node ids. */
export interface LeasedFlakeOptions<F extends IdForm = 'bigint'>
  extends Omit<LeaseOptions, 'size' | 'layout'>,
    Omit<FlakeOptions<F>, 'node'> {}

/**
 * The handle from `share()` for `attach()`: plain data and shared memory. Post it to worker threads, for example as
 * `workerData`.
 */
export interface SharedFlake<F extends IdForm = 'bigint'> {
  /** The last tick and sequence number, and the lease's window. */
  readonly state: SharedArrayBuffer;
  readonly layout: Complete<LayoutOptions>;
  readonly onFull: 'wait' | 'borrow';
  readonly onClockBack: 'hold' | 'throw';
  readonly maxBackward: number;
  readonly as: F;
  /**
   * The table in which generators with the same fixed node claim ticks.
   *
   * @internal
   */
  readonly turns?: SlotHandle;
}
