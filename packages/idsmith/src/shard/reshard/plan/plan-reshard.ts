import { refuse, requireKnown } from '../../../options.js';
import type { ShardMap } from '../../shard-map.js';
import { Parties } from '../context.js';
import type { Wire } from '../node-connection.js';
import { Places, scan } from './key-placement.js';

/** Keys that go from one node to another. */
export interface ReshardPair {
  /** Names of nodes. */
  readonly from: string;
  readonly to: string;
  readonly keys: number;
  readonly bytes: number;
}

/** What resharding would move. */
export interface ReshardPlan {
  /** From → to, in the order of the nodes; only those with keys. */
  readonly pairs: readonly ReshardPair[];
  /** How many keys would move. */
  readonly keys: number;
  /** How much memory they take, by Redis's own reckoning (`MEMORY USAGE`). */
  readonly bytes: number;
  /** How many keys stay where they are. */
  readonly stay: number;
  /** Keys that are left alone: none of the map's making, or on a node that owned them in neither map. */
  readonly skipped: number;
}

/** How to plan. */
export interface PlanOptions {
  /**
   * Whether keys count, too, that are none of the map's making, like `session:42`: all that are on the node where the
   * old map would look for them. Default false.
   */
  readonly allKeys?: boolean;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

/** The names of `PlanOptions`. */
export const PLAN_NAMES = ['allKeys', 'signal'];

const SIZES = `
local sizes = {}
for i, key in ipairs(KEYS) do sizes[i] = redis.call('MEMORY', 'USAGE', key) or 0 end
return sizes`;

/**
 * What `reshard` would move, counted: nothing is moved or written. While keys are written, it is about so many.
 *
 * @throws InvalidOptionError when keys cannot be moved from the one map to the other
 * @throws StoreError naming a node that does not answer
 *
 * @example
 * const { pairs, keys, stay } = await planReshard(new ShardMap(four), new ShardMap(six));
 */
export async function planReshard(
  from: ShardMap<unknown>,
  to: ShardMap<unknown>,
  options: PlanOptions = {},
): Promise<ReshardPlan> {
  requireKnown('options', options, PLAN_NAMES);
  const parties = new Parties(from, to);
  const places = new Places(parties, readAllKeys(options.allKeys));
  const signal = readSignal(options.signal);
  signal?.throwIfAborted();
  // A plan that cannot be carried out is none.
  await Promise.all([...parties.targets.values()].map((wire) => wire.command('asking', 'PING')));
  const counts = await Promise.all([...parties.sources.values()].map((wire) => count(wire, places, signal)));
  const pairs = counts.flatMap(({ to }, i) =>
    parties.to.nodes.flatMap(({ name }): ReshardPair[] => {
      const pair = to.get(name);
      return pair === undefined ? [] : [{ from: parties.from.nodes[i]!.name, to: name, ...pair }];
    }),
  );
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  return {
    pairs,
    keys: sum(pairs.map(({ keys }) => keys)),
    bytes: sum(pairs.map(({ bytes }) => bytes)),
    stay: sum(counts.map(({ stay }) => stay)),
    skipped: sum(counts.map(({ skipped }) => skipped)),
  };
}

async function count(wire: Wire, places: Places, signal: AbortSignal | undefined) {
  const to = new Map<string, { keys: number; bytes: number }>();
  let [stay, skipped] = [0, 0];
  for await (const keys of scan(wire)) {
    signal?.throwIfAborted();
    const found = places.sort(keys, wire.name);
    stay += found.stays;
    skipped += found.foreign;
    for (const [target, leaving] of found.leaving) {
      const sizes = await wire.run('measuring keys', SIZES, leaving);
      const pair = to.get(target) ?? { keys: 0, bytes: 0 };
      pair.keys += leaving.length;
      pair.bytes += sizes.reduce<number>((total, size) => total + Number(size), 0);
      to.set(target, pair);
    }
  }
  return { to, stay, skipped };
}

/** @throws InvalidOptionError unless it is true or false */
export function readAllKeys(value: unknown = false): boolean {
  if (typeof value !== 'boolean') refuse('allKeys', 'true or false', value);
  return value;
}

/** @throws InvalidOptionError unless it is a signal, or left out */
export function readSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal !== undefined && typeof signal?.throwIfAborted !== 'function')
    refuse('signal', 'an AbortSignal', signal);
  return signal;
}
