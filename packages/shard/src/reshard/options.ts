import { InvalidOptionError, pause, refuse, requireInteger, show, systemTimer } from 'idsmith/internal';
import type { ShardMap } from '../map/shard-map.js';
import type { ReshardContext } from './context.js';

/** A hook for tests that runs after each of the five steps. */
export type AfterStep = (step: 'claimed' | 'taken' | 'put' | 'dropped' | 'settled') => unknown;

/** The options of `planReshard`. */
export interface PlanOptions {
  /**
   * Includes keys of other programs, like `session:42`, if they are on the node where the old map would look for them.
   * Default false.
   */
  readonly allKeys?: boolean;
  /** Types of keys that the map minted, by name or number, besides those in `keyTypes`. */
  readonly types?: readonly (string | number)[];
  /** Names of further keys that belong to the map. Default: none. */
  readonly pattern?: RegExp;
  /**
   * Moves keys to nodes that have neither an append-only file nor a replica, although an old node keeps keys over a crash. Default
   * false.
   */
  readonly acceptVolatileTarget?: boolean;
  /** Moves keys to nodes that remove keys when they are full (`maxmemory-policy`). Such keys may be lost. Default false. */
  readonly acceptEvictingTarget?: boolean;
  /** Moves keys although the old nodes cannot read what the new ones write: the resharding cannot be aborted. Default false. */
  readonly acceptNoAbort?: boolean;
  /**
   * Names of nodes (`host:port` or `ringName`) that are lost for good and will never answer again. Everything that was only there is lost. No process may
   * reach such a node any more.
   */
  readonly gone?: readonly string[];
  /**
   * Names of nodes (`host:port` or `ringName`) that were started again with older data or without any. Values that other nodes have are kept. Values that
   * were only on such a node are lost, and keys that were deleted since may come back. If all old nodes are named, minting is handed over although they
   * have forgotten that it was given to them: no other nodes may have taken it over since.
   */
  readonly acceptOlder?: readonly string[];
  /** Stops the operation early. */
  readonly signal?: AbortSignal | undefined;
}

/** The names of `PlanOptions`. */
export const PLAN_OPTION_NAMES = [
  'allKeys',
  'types',
  'pattern',
  'acceptVolatileTarget',
  'acceptEvictingTarget',
  'acceptNoAbort',
  'gone',
  'acceptOlder',
  'signal',
];

/** @throws InvalidOptionError unless the value is an AbortSignal or left out */
export function readSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal !== undefined && typeof signal?.throwIfAborted !== 'function')
    refuse('signal', 'an AbortSignal', signal);
  return signal;
}

/**
 * Reads names of nodes: their addresses, or their names on the ring.
 *
 * @returns their addresses
 * @throws InvalidOptionError unless the value is a list of names of nodes of the two maps, or left out
 */
export function readNodeNames(
  option: string,
  value: unknown,
  { sources, targets }: ReshardContext,
): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) refuse(option, 'a list of names of nodes', value);
  const nodes = [...sources.values(), ...targets.values()];
  const known = [...new Set(nodes.map(({ address }) => address))];
  return value.map((name) => {
    const node = nodes.find(({ address, node }) => address === name || node.ringName === name);
    if (node !== undefined) return node.address;
    throw new InvalidOptionError(
      `${option}: there is no node ${show(name)} in the two maps (${known.join(', ')})`,
    );
  });
}

/**
 * Notes in the context which nodes are gone.
 *
 * @param context the resharding in the direction of the move
 * @throws InvalidOptionError when keys would be moved to such a node, or no node is left
 */
export function giveUpNodes(context: ReshardContext, gone: readonly string[] | undefined): void {
  for (const address of readNodeNames('gone', gone, context)) {
    if (context.targets.has(address)) throw goneTargetError(context, address);
    context.gone.add(address);
  }
  // Without any new owner, a resharding can still be given up.
  if (context.givingNodes.length === 0 && !context.isReversed)
    throw new InvalidOptionError('gone must leave at least one of the nodes that keys are moved from');
}

/** The error for a node that is gone, and that keys would be moved to. */
export function goneTargetError(
  { sources, isReversed }: ReshardContext,
  address: string,
): InvalidOptionError {
  const isNew = !isReversed && !sources.has(address);
  return new InvalidOptionError(
    `gone: keys are moved to node ${address}, so it cannot be given up. ${
      isNew
        ? `Give the resharding up: abortReshard with gone (--abort --gone ${address}). Keys that were moved there are lost, and all others ` +
          'go back to their old owners'
        : `Start an empty server at its address, and give acceptOlder (--accept-older ${address}) in place of gone`
    }`,
  );
}

/** The settings that a resharding keeps from its beginning to its end, above all which keys belong to the maps. */
export interface KeySettings {
  readonly allKeys: boolean;
  /** Numbers of types, besides those in `keyTypes`. */
  readonly types: readonly number[];
  readonly pattern: RegExp | undefined;
  readonly acceptVolatileTarget: boolean;
  /** The script of TAKE looks for this name. */
  readonly acceptEvictingTarget: boolean;
  readonly acceptNoAbort: boolean;
}

/**
 * Reads the settings from the options. A resharding that has begun has its settings on the nodes. Options that are left out
 * then have the stored values.
 *
 * @param stored the settings on the nodes, as JSON; empty if the resharding has not begun
 * @throws InvalidOptionError naming an option that is wrong, or differs from the stored one
 */
export function readKeySettings(context: ReshardContext, options: PlanOptions, stored = ''): KeySettings {
  const { allKeys, types, pattern, acceptVolatileTarget, acceptEvictingTarget, acceptNoAbort } = options;
  const flags = { allKeys, acceptVolatileTarget, acceptEvictingTarget, acceptNoAbort };
  for (const [name, value] of Object.entries(flags))
    if (value !== undefined && typeof value !== 'boolean') refuse(name, 'true or false', value);
  if (types !== undefined && !Array.isArray(types)) refuse('types', 'a list of types', types);
  if (pattern !== undefined && !(pattern instanceof RegExp))
    refuse('pattern', 'a regular expression', pattern);
  if (allKeys && context.to.isCluster)
    throw new InvalidOptionError(
      'allKeys must be false for a Redis Cluster: other programs have to learn its slots first. Use pattern for further keys',
    );
  const given = {
    allKeys,
    types: types && [...new Set(types.map((type) => typeNumber(context, type)))].sort((a, b) => a - b),
    pattern: pattern && [pattern.source, pattern.flags.replace(/[gy]/g, '')],
  };
  const kept = (stored === '' ? {} : JSON.parse(stored)) as Partial<typeof given & KeySettings>;
  for (const name of ['allKeys', 'types', 'pattern'] as const)
    if (stored !== '' && given[name] !== undefined && !isSame(given[name], kept[name]))
      throw new InvalidOptionError(
        `${name} must stay as it was when the resharding began (${JSON.stringify(kept[name] ?? NONE[name])}): leave the option out`,
      );
  const [source, mode] = given.pattern ?? kept.pattern ?? [];
  return {
    allKeys: given.allKeys ?? kept.allKeys ?? false,
    types: given.types ?? kept.types ?? [],
    pattern: source === undefined ? undefined : new RegExp(source, mode),
    acceptVolatileTarget: acceptVolatileTarget ?? kept.acceptVolatileTarget ?? false,
    acceptEvictingTarget: acceptEvictingTarget ?? kept.acceptEvictingTarget ?? false,
    acceptNoAbort: acceptNoAbort ?? kept.acceptNoAbort ?? false,
  };
}

/** The settings as JSON, to be kept on the nodes. */
export function keySettingsText({ pattern, ...rest }: KeySettings): string {
  return JSON.stringify({ ...rest, ...(pattern && { pattern: [pattern.source, pattern.flags] }) });
}

const NONE = { allKeys: false, types: [], pattern: null };

const isSame = (given: unknown, kept: unknown) =>
  JSON.stringify(given) === JSON.stringify(kept ?? (Array.isArray(given) ? [] : false));

/** The number of a type that is given by name or number. */
function typeNumber({ from, to }: ReshardContext, type: unknown): number {
  const named = (map: ShardMap<unknown>) =>
    typeof type === 'string' && Object.hasOwn(map.keyTypes, type) ? map.keyTypes[type] : undefined;
  const value = typeof type === 'number' ? type : (named(from) ?? named(to));
  if (value !== undefined && Number.isInteger(value) && value >= 0 && value < 3844) return value;
  throw new InvalidOptionError(
    `types: ${show(type)} is neither a name in keyTypes nor a number from 0 to 3843`,
  );
}

/** The default for the largest number of keys in one round trip. */
const BATCH = 500;

/** The progress of a resharding. */
export interface ReshardProgress {
  /** The number of keys moved so far. */
  readonly moved: number;
  readonly bytes: number;
  /** The number of keys looked at so far. */
  readonly scanned: number;
  /** The approximate number of keys to look at. */
  readonly total: number;
  readonly seconds: number;
  /** Keys moved per second, over the last three seconds. */
  readonly rate: number;
  /** The approximate number of seconds left; `undefined` before the first keys are moved. */
  readonly left: number | undefined;
}

/** The options of `reshard` and `abortReshard` about how keys are moved. */
export interface MoveOptions extends Pick<PlanOptions, 'gone' | 'acceptOlder' | 'signal'> {
  /** The largest number of keys to move in a second. Default: no limit. */
  readonly rate?: number;
  /** The largest number of keys to move in one script. A node does nothing else while a script runs. Default 500. */
  readonly batch?: number;
  /** Called with the progress after each batch. */
  readonly onProgress?: (progress: ReshardProgress) => void;
  /** @internal Called before the first change on a node. After an error before that, there is nothing to continue. */
  readonly onBegin?: () => void;
  /** @internal Called after each step of a batch. */
  readonly afterStep?: AfterStep;
}

/** The names of `MoveOptions`. */
export const MOVE_OPTION_NAMES = [
  'rate',
  'batch',
  'onProgress',
  'signal',
  'gone',
  'acceptOlder',
  'onBegin',
  'afterStep',
];

/** The checked options. */
export interface MoveSettings {
  readonly rateLimit: RateLimit;
  readonly batch: number;
  readonly onProgress: ((progress: ReshardProgress) => void) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly acceptOlder: readonly string[];
  readonly onBegin: () => void;
  readonly afterStep: AfterStep | undefined;
}

/**
 * Checks the options, and notes in the context which nodes are gone.
 *
 * @param context the resharding in the direction of the move
 * @throws InvalidOptionError naming the option that is wrong
 */
export function readMoveOptions(context: ReshardContext, options: MoveOptions): MoveSettings {
  const { onProgress, onBegin = () => {}, afterStep } = options;
  const rateLimit = new RateLimit(readRate(options.rate));
  const batch = Math.min(requireInteger('batch', options.batch ?? BATCH, 1, 10_000), rateLimit.largestBatch);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    refuse('onProgress', 'a function', onProgress);
  const acceptOlder = readNodeNames('acceptOlder', options.acceptOlder, context);
  giveUpNodes(context, options.gone);
  const signal = readSignal(options.signal);
  return { rateLimit, batch, onProgress, signal, acceptOlder, onBegin, afterStep };
}

function readRate(rate: unknown): number {
  if (rate === undefined || rate === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  if (typeof rate === 'number' && rate > 0) return rate;
  return refuse('rate', 'keys per second, more than 0', rate);
}

/** The longest delay that the mover may catch up on after falling behind its rate, ms. */
const BURST = 100;

/** Limits the number of keys that are moved in a second, for all callers together. */
export class RateLimit {
  readonly #rate: number;
  /** The time at which the next keys may be moved, ms. */
  #next = 0;

  constructor(rate: number) {
    this.#rate = rate;
  }

  /** The largest batch that keeps to the rate. */
  get largestBatch(): number {
    return Math.max(1, Math.ceil((this.#rate * BURST) / 1000));
  }

  /** Waits until `keys` keys may be moved. */
  async wait(keys: number): Promise<void> {
    if (this.#rate === Number.POSITIVE_INFINITY) return;
    const now = performance.now();
    const at = Math.max(this.#next, now - BURST);
    this.#next = at + (keys / this.#rate) * 1000;
    if (at > now) await pause(systemTimer, at - now, false);
  }
}
