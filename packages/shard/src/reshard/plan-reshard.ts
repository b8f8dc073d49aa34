import { requireKnown } from 'idsmith/internal';
import type { ShardMap } from '../map/shard-map.js';
import { MEASURE_KEYS } from '../redis/scripts.js';
import { type EarlyMinting, prepareReshard } from './checks.js';
import { ReshardContext } from './context.js';
import { type KeyPlacement, SkippedKeyCounter, type SkippedKeys } from './key-placement.js';
import { type NodeConnection, scanKeys } from './node-connection.js';
import {
  giveUpNodes,
  PLAN_OPTION_NAMES,
  type PlanOptions,
  readKeySettings,
  readNodeNames,
  readSignal,
} from './options.js';

/** The keys that go from one node to another. */
export interface ReshardPair {
  /** The name of the old owner in `shards` of the old config. */
  readonly from: string;
  /** The name of the new owner in `shards` of the new config. */
  readonly to: string;
  readonly keys: number;
  readonly bytes: number;
}

/** The keys that a resharding would move, counted. */
export interface ReshardPlan extends SkippedKeys, EarlyMinting {
  /** The pairs of nodes with keys to move, in the order of the nodes. */
  readonly pairs: readonly ReshardPair[];
  /** The number of keys that would move. */
  readonly keys: number;
  /** The memory of these keys, as Redis reports it (`MEMORY USAGE`). */
  readonly bytes: number;
  /** The number of keys that stay on their node. */
  readonly stay: number;
}

/**
 * Counts the keys that `reshard` would move. Nothing is moved. Whatever `reshard` would refuse is refused here, too. The counts
 * are approximate while applications write keys.
 *
 * @throws InvalidOptionError when keys cannot be moved from one map to the other
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
  requireKnown('options', options, PLAN_OPTION_NAMES);
  const context = new ReshardContext(from, to);
  const signal = readSignal(options.signal);
  readKeySettings(context, options);
  giveUpNodes(context, options.gone);
  const acceptOlder = readNodeNames('acceptOlder', options.acceptOlder, context);
  signal?.throwIfAborted();
  const { placement, minting } = await prepareReshard(context, options, acceptOlder);
  const skipped = new SkippedKeyCounter();
  const counts = await Promise.all(
    context.givingNodes.map((node) => countKeys(node, placement, skipped, signal)),
  );
  const pairs = counts.flatMap(({ to }, i) =>
    context.to.nodes.flatMap(({ name, address }): ReshardPair[] => {
      const pair = to.get(address);
      return pair === undefined ? [] : [{ from: context.givingNodes[i]!.node.name, to: name, ...pair }];
    }),
  );
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  return {
    pairs,
    keys: sum(pairs.map(({ keys }) => keys)),
    bytes: sum(pairs.map(({ bytes }) => bytes)),
    stay: sum(counts.map(({ stay }) => stay)),
    ...skipped.totals(),
    ...minting,
  };
}

async function countKeys(
  node: NodeConnection,
  placement: KeyPlacement,
  skipped: SkippedKeyCounter,
  signal: AbortSignal | undefined,
) {
  const to = new Map<string, { keys: number; bytes: number }>();
  let stay = 0;
  for await (const keys of scanKeys(node)) {
    signal?.throwIfAborted();
    const sorted = placement.sort(keys, node.address);
    stay += sorted.staying;
    skipped.add(sorted.skipped);
    for (const [target, leaving] of sorted.leaving) {
      const sizes = await node.run('measuring keys', MEASURE_KEYS, leaving);
      const pair = to.get(target) ?? { keys: 0, bytes: 0 };
      pair.keys += leaving.length;
      pair.bytes += sizes.reduce<number>((total, size) => total + Number(size), 0);
      to.set(target, pair);
    }
  }
  return { to, stay };
}
