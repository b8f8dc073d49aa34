import type { Clock } from '../clock.js';
import type { RandomSource } from '../random.js';
import type { MachineNode } from '../runtime/machine.js';
import type { Flavour } from './layout.js';
import type { SeedWindow } from './seed.js';

/** `'variable'` spreads ids over all shards; `'sequential'` keeps them together. */
export type LocalityMode = 'variable' | 'sequential';

/** How a variable counter's digits are reversed: all of them, or as the Java library does. */
export type Reversal = 'full' | 'java';

/** The options of a `LocalityGenerator`. */
export interface LocalityOptions {
  /** Default `'variable'`. */
  mode?: LocalityMode;
  /**
   * Default `'full'`. `'java'` reproduces the Java library byte for byte, which loses four bits of every
   * counter from 2^31 up.
   */
  reversal?: Reversal;
  /** Default: this process and machine. `'random'`: 44 random bits, for containers. */
  node?: { processId: number; mac: Uint8Array } | 'random';
  /** Start value, signed or unsigned 32 bits. Default random, or the seed in sequential mode. */
  counter?: number;
  /** What the sequential seed is taken from. Default `'ten-minutes'`. */
  window?: SeedWindow;
  /** Sequential mode: take the new seed when the window turns. Default false. */
  reseed?: boolean;
  /** Default `'locality'`; `'rfc9562'` makes standard UUIDs of version 8 with the same fields. */
  flavour?: Flavour;
  /** Default the machine's clock. */
  clock?: Clock;
  /** Default the runtime's cryptographic source. */
  random?: RandomSource;
}

/** What `share()` gives and `attach()` takes: plain data and shared memory, to be posted to worker threads. */
export interface SharedLocality {
  readonly ledger: SharedArrayBuffer;
  readonly stream: number;
  readonly counter: SharedArrayBuffer;
  readonly node: MachineNode;
  readonly mode: LocalityMode;
  readonly reversal: Reversal;
  readonly window: SeedWindow;
  readonly reseed: boolean;
  readonly flavour: Flavour;
}
