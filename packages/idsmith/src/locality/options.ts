import type { Clock } from '../clock.js';
import { isA, refuse, requireChoice, requireInteger, requireKnown } from '../options.js';
import type { RandomSource } from '../random.js';
import type { LocalityFormat } from './layout.js';
import { LEDGER_BYTES, MAX_STREAM } from './ledger.js';
import { type LocalityNode, NODE_SOURCES, type NodeOption, type NodeSource, requireNode } from './node.js';
import type { SeedWindow } from './seed.js';
import { COUNTER_BYTES } from './shared-counter.js';

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

const STYLE_NAMES = ['mode', 'reversal', 'window', 'format', 'reseed'];
const OPTION_NAMES = [...STYLE_NAMES, 'node', 'counter', 'clock', 'random'];
const HANDLE_NAMES = [...STYLE_NAMES, 'node', 'counter', 'ledger', 'stream', 'seededIn'];

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

function styleFrom(options: Pick<LocalityOptions, keyof LocalityStyle>): LocalityStyle {
  return {
    mode: requireChoice('mode', options.mode, ['variable', 'sequential']),
    reversal: requireChoice('reversal', options.reversal, ['full', 'java']),
    window: requireChoice('window', options.window, ['ten-minutes', 'hour']),
    format: requireChoice('format', options.format, ['locality', 'rfc9562']),
    reseed: requireChoice('reseed', options.reseed, [false, true]),
  };
}

/**
 * Checks a handle, which may have come from anywhere.
 *
 * @throws InvalidOptionError naming the first part that is wrong
 */
export function requireLocalityHandle(handle: SharedLocality): SharedLocality {
  if (typeof handle !== 'object' || handle === null) refuse('handle', 'a handle from share()', handle);
  const { counter, ledger, stream, seededIn, node } = requireKnown('handle', handle, HANDLE_NAMES);
  requireMemory('handle.counter', counter, COUNTER_BYTES);
  requireMemory('handle.ledger', ledger, LEDGER_BYTES);
  requireInteger('handle.stream', stream, 0, MAX_STREAM);
  requireInteger('handle.seededIn', seededIn, 0, Number.MAX_SAFE_INTEGER);
  const known = requireNode('handle.node', node);
  const source = requireChoice<NodeSource>('handle.node.source', node.source, NODE_SOURCES);
  return { ...styleFrom(handle), counter, ledger, stream, seededIn, node: { ...known, source } };
}

function requireMemory(option: string, memory: unknown, bytes: number): void {
  if (isA('SharedArrayBuffer', memory) && (memory as SharedArrayBuffer).byteLength === bytes) return;
  refuse(option, `shared memory of ${bytes} bytes`, memory);
}

/** @throws InvalidOptionError naming the first unknown option of `attach()` */
export function requireAttachOptions<T extends { clock?: Clock | undefined }>(options: T): T {
  return requireKnown('options', options, ['clock']);
}
