import type { Clock } from '../clock.js';
import type { Lease } from '../lease/lease.js';
import type { Layout, LayoutOptions } from './layout.js';
import type { SlotHandle } from './tick-table.js';

/** The options of a `FlakeGenerator`. */
export interface FlakeOptions {
  /** Default `layouts.jflake`. */
  layout?: Layout;
  /**
   * A fixed node id, which no other process may use, or a lease, which sees to that. Generators of one process that have
   * the same layout, fixed node and clock share the node: they make no id twice.
   */
  node: number | Lease;
  /** Default the machine's clock. A generator with another clock and a fixed node knows nothing of others of that node. */
  clock?: Clock;
  /**
   * The tick's sequence is used up: `'wait'` (default) spins to the next tick; `'borrow'` stamps it early, up to
   * `maxBackward` ahead of the clock. `'borrow'` needs a lease: after a restart a fixed node would repeat what was borrowed.
   */
  onFull?: 'wait' | 'borrow';
  /** The clock steps back: `'hold'` (default) keeps the last tick and goes on; `'throw'` throws a `ClockError`. */
  onClockBack?: 'hold' | 'throw';
  /** How far `'hold'` may hold, ms. Default 10,000. */
  maxBackward?: number;
}

/** What `share()` gives and `attach()` takes: plain data and shared memory, to be posted to worker threads. */
export interface SharedFlake {
  readonly state: SharedArrayBuffer;
  readonly layout: Required<LayoutOptions>;
  readonly onFull: 'wait' | 'borrow';
  readonly onClockBack: 'hold' | 'throw';
  readonly maxBackward: number;
  /** How a fixed node keeps out of the ticks that other generators of the same node in this process use. */
  readonly turns?: SlotHandle;
}
