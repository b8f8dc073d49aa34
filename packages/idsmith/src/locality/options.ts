import type { Clock } from '../clock.js';
import { InvalidOptionError } from '../errors.js';
import type { Lease } from '../lease/lease.js';
import { isA, refuse, requireChoice, requireInteger, requireKnown, show } from '../options.js';
import type { RandomSource } from '../random.js';
import type { LocalityFormat } from './layout.js';
import { LEDGER_BYTES, MAX_STREAM } from './ledger.js';
import { type LocalityNode, NODE_SOURCES, type NodeSource, requireNode } from './node.js';
import type { SeedWindow } from './seed.js';
import { WALK_BYTES } from './shared-walk.js';

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
   * Default `'auto'`: this process and machine where they tell processes apart, 44 random bits everywhere else.
   * `'machine'`: this process and machine in any case. `'random'`: 44 random bits of this generator's own. A lease: its
   * node id, with its window, where odds are not enough.
   */
  node?: 'auto' | 'machine' | 'random' | { processId: number; mac: Uint8Array; source?: NodeSource } | Lease;
  /** Start value, signed or unsigned 32 bits. Default random, or the seed in sequential mode. */
  counter?: number;
  /** What the sequential seed is taken from. Default `'ten-minutes'`. */
  window?: SeedWindow;
  /** Sequential mode: take the new seed when the window turns. Default false. */
  reseed?: boolean;
  /** Default `'locality'`; `'rfc9562'` makes standard UUIDs of version 8 with the same fields. */
  format?: LocalityFormat;
  /** Another name for `format`. */
  flavour?: LocalityFormat;
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
  readonly format: LocalityFormat;
  readonly reseed: boolean;
}

const STYLE_NAMES = ['mode', 'reversal', 'window', 'format', 'reseed'];
const OPTION_NAMES = [...STYLE_NAMES, 'flavour', 'node', 'counter', 'clock', 'random'];
const HANDLE_NAMES = [...STYLE_NAMES, 'node', 'counter', 'ledger', 'stream', 'seededIn'];

/** What `share()` gives and `attach()` takes: plain data and shared memory, to be posted to worker threads. */
export interface SharedLocality extends LocalityStyle {
  readonly node: LocalityNode;
  /** The counter that all walk together, with its time. */
  readonly counter: SharedArrayBuffer;
  readonly ledger: SharedArrayBuffer;
  readonly stream: number;
  /** The window that a sequential counter was seeded in. */
  readonly seededIn: number;
}

/** @throws InvalidOptionError naming the first option that is wrong or not known */
export function requireOptions(options: LocalityOptions): LocalityStyle {
  return styleFrom(requireKnown('options', options, OPTION_NAMES));
}

function styleFrom(options: Partial<LocalityStyle> & { flavour?: LocalityFormat }): LocalityStyle {
  return {
    mode: requireChoice('mode', options.mode, ['variable', 'sequential']),
    reversal: requireChoice('reversal', options.reversal, ['full', 'java']),
    window: requireChoice('window', options.window, ['ten-minutes', 'hour']),
    format: formatFrom(options),
    reseed: requireChoice('reseed', options.reseed, [false, true]),
  };
}

function formatFrom({
  format,
  flavour,
}: {
  format?: LocalityFormat;
  flavour?: LocalityFormat;
}): LocalityFormat {
  const formats = ['locality', 'rfc9562'] as const;
  const alias = requireChoice('flavour', flavour, formats);
  if (format === undefined) return alias;
  requireChoice('format', format, formats);
  if (flavour === undefined || alias === format) return format;
  throw new InvalidOptionError(
    `format is ${show(format)} and flavour, another name for it, is ${show(flavour)}; give format alone`,
  );
}

/**
 * A handle that may have come from anywhere, if it is what `share()` gave.
 *
 * @throws InvalidOptionError naming the first part that is wrong
 */
export function requireHandle(handle: SharedLocality): SharedLocality {
  if (typeof handle !== 'object' || handle === null) refuse('handle', 'what share() gave', handle);
  const { counter, ledger, stream, seededIn, node } = requireKnown('handle', handle, HANDLE_NAMES);
  requireMemory('handle.counter', counter, WALK_BYTES);
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

/** @throws InvalidOptionError naming the first option of `attach()` that is not known */
export function requireAttachOptions<T extends { clock?: Clock }>(options: T): T {
  return requireKnown('options', options, ['clock']);
}
