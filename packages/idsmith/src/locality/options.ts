import type { Clock } from '../clock.js';
import type { Leasable } from '../lease/window.js';
import { isA, refuse, requireChoice, requireInteger } from '../options.js';
import type { RandomSource } from '../random.js';
import type { MachineNode } from '../runtime/machine.js';
import type { Flavour } from './layout.js';
import { requireNode } from './node.js';
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
  /**
   * Default: this process and machine. `'random'`: 44 random bits, for containers. A lease: its node id, with its window,
   * for containers where odds are not enough.
   */
  node?: { processId: number; mac: Uint8Array } | 'random' | Leasable;
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

/** The options that say what ids look like, with their defaults. */
export interface LocalityStyle {
  readonly mode: LocalityMode;
  readonly reversal: Reversal;
  readonly window: SeedWindow;
  readonly flavour: Flavour;
  readonly reseed: boolean;
}

/** What `share()` gives and `attach()` takes: plain data and shared memory, to be posted to worker threads. */
export interface SharedLocality extends LocalityStyle {
  readonly node: MachineNode;
  readonly counter: SharedArrayBuffer;
  readonly ledger: SharedArrayBuffer;
  readonly stream: number;
  /** The window that a sequential counter was seeded in. */
  readonly seededIn: number;
}

/** @throws InvalidOptionError naming the first option that is wrong */
export function styleFrom(options: Partial<LocalityStyle>): LocalityStyle {
  if (typeof options !== 'object' || options === null) refuse('options', 'an object', options);
  return {
    mode: requireChoice('mode', options.mode, ['variable', 'sequential']),
    reversal: requireChoice('reversal', options.reversal, ['full', 'java']),
    window: requireChoice('window', options.window, ['ten-minutes', 'hour']),
    flavour: requireChoice('flavour', options.flavour, ['locality', 'rfc9562']),
    reseed: requireChoice('reseed', options.reseed, [false, true]),
  };
}

/**
 * A handle that may have come from anywhere, if it is what `share()` gave.
 *
 * @throws InvalidOptionError naming the first part that is wrong
 */
export function requireHandle(handle: SharedLocality): SharedLocality {
  if (typeof handle !== 'object' || handle === null) refuse('handle', 'what share() gave', handle);
  const { counter, ledger } = handle;
  if (!isA('SharedArrayBuffer', counter) || counter.byteLength !== 4)
    refuse('handle.counter', 'shared memory', counter);
  if (!isA('SharedArrayBuffer', ledger) || ledger.byteLength !== 16)
    refuse('handle.ledger', 'shared memory', ledger);
  requireInteger('handle.stream', handle.stream, 0, 2 ** 15 - 1);
  requireInteger('handle.seededIn', handle.seededIn, 0, Number.MAX_SAFE_INTEGER);
  return { ...handle, ...styleFrom(handle), node: requireNode(handle.node) };
}
