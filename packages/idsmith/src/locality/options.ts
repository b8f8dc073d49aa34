import type { Clock } from '../clock.js';
import { requireChoice, requireKnown } from '../options.js';
import type { RandomSource } from '../random.js';
import type { LocalityFormat } from './layout.js';
import type { LocalityNode, NodeOption } from './node.js';
import type { SeedWindow } from './seed.js';

/** The mode of a generator: `'variable'` spreads ids over all shards, `'sequential'` keeps them together. */
export type LocalityMode = 'variable' | 'sequential';

/** The reversal of a variable counter's digits: all of them, or the same digits as the Java library. */
type Reversal = 'full' | 'java';

/** The options of a `LocalityGenerator`. */
export interface LocalityOptions {
  /** Default `'variable'`. */
  mode?: LocalityMode | undefined;
  /**
   * Default `'full'`. `'java'` reproduces the Java library byte for byte, which loses four bits of every
   * counter from 2^31 up.
   */
  reversal?: Reversal | undefined;
  /**
   * Default `'auto'`: the process id and MAC address where they are unique, 44 random bits everywhere else.
   * `'machine'`: the process id and MAC address in any case. `'random'`: 44 random bits of this generator's own. A lease:
   * its node id within its window, for ids that never repeat.
   */
  node?: NodeOption | undefined;
  /** Start value, signed or unsigned 32 bits. Default random, or the seed in sequential mode. */
  counter?: number | undefined;
  /** The length of time that shares a sequential seed. Default `'ten-minutes'`. */
  window?: SeedWindow | undefined;
  /** Sequential mode: take a new seed when a new window begins. Default false. */
  reseed?: boolean | undefined;
  /** Default `'locality'`; `'rfc9562'` makes standard UUIDs of version 8 with the same fields. */
  format?: LocalityFormat | undefined;
  /** Default the machine's clock. */
  clock?: Clock | undefined;
  /** Default the runtime's cryptographic source. */
  random?: RandomSource | undefined;
}

/** The options that decide the look of ids, with their defaults. */
export type LocalityStyle = Pick<SharedLocality, 'mode' | 'reversal' | 'window' | 'format' | 'reseed'>;

export const STYLE_NAMES = ['mode', 'reversal', 'window', 'format', 'reseed'];
const OPTION_NAMES = [...STYLE_NAMES, 'node', 'counter', 'clock', 'random'];

/**
 * The handle from `share()` for `attach()`: plain data and shared memory. Post it to worker threads, for example as
 * `workerData`.
 */
export interface SharedLocality {
  readonly mode: LocalityMode;
  readonly reversal: Reversal;
  readonly window: SeedWindow;
  readonly format: LocalityFormat;
  readonly reseed: boolean;
  readonly node: LocalityNode;
  /** The shared counter and its time. */
  readonly counter: SharedArrayBuffer;
  /** The claims on milliseconds. */
  readonly ledger: SharedArrayBuffer;
  /** The number under which the threads claim milliseconds. */
  readonly stream: number;
  /** The number of the window that gave the sequential seed. */
  readonly seededIn: number;
}

/** @throws InvalidOptionError naming the first option that is wrong or not known */
export function requireOptions(options: LocalityOptions): LocalityStyle {
  return styleFrom(requireKnown('options', options, OPTION_NAMES));
}

/** @throws InvalidOptionError naming the first of them that is wrong */
export function styleFrom(options: Pick<LocalityOptions, keyof LocalityStyle>): LocalityStyle {
  return {
    mode: requireChoice('mode', options.mode, ['variable', 'sequential']),
    reversal: requireChoice('reversal', options.reversal, ['full', 'java']),
    window: requireChoice('window', options.window, ['ten-minutes', 'hour']),
    format: requireChoice('format', options.format, ['locality', 'rfc9562']),
    reseed: requireChoice('reseed', options.reseed, [false, true]),
  };
}

/** @throws InvalidOptionError naming the first unknown option of `attach()` */
export function requireAttachOptions<T extends { clock?: Clock | undefined }>(options: T): T {
  return requireKnown('options', options, ['clock']);
}
