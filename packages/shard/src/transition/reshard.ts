import { requireKnown } from 'idsmith/internal';
import type { ShardMap } from '../map/shard-map.js';
import { handOver } from '../mint/handover.js';
import { type EarlyMinting, prepareReshard } from '../reshard/checks.js';
import { ReshardContext } from '../reshard/context.js';
import type { SkippedKeys } from '../reshard/key-placement.js';
import { moveAllKeys } from '../reshard/move-all-keys.js';
import {
  MOVE_OPTION_NAMES,
  type MoveOptions,
  PLAN_OPTION_NAMES,
  type PlanOptions,
  readKeySettings,
  readMoveOptions,
} from '../reshard/options.js';
import { beginReshard, finishReshard } from '../reshard/phase.js';
import type { ReshardPair } from '../reshard/plan-reshard.js';
import { ProgressTracker } from '../reshard/progress.js';
import { type ReshardOutcome, startTransition } from './transition-routing.js';

/** The options of `reshard`. */
export interface ReshardOptions extends PlanOptions, MoveOptions {}

const RESHARD_OPTION_NAMES = [...PLAN_OPTION_NAMES, ...MOVE_OPTION_NAMES];

/** The report of a resharding. */
export interface ReshardReport extends SkippedKeys, Pick<EarlyMinting, 'mintedBefore'> {
  /** The pairs of nodes with moved keys, in the order of the nodes. */
  readonly pairs: readonly ReshardPair[];
  /** The number of keys that this run moved. Keys that applications moved by using them are not counted. */
  readonly moved: number;
  /** The size of their values, as sent. */
  readonly bytes: number;
  /** The number of keys that were already on the right node. */
  readonly stayed: number;
  /**
   * The number of values of old owners that were dropped because the new owner had a value of its own. After an abort, the number
   * of values of new owners that were dropped because the old owner had the value.
   */
  readonly superseded: number;
  /** The number of processes with a map in transition that were silent for ten seconds and counted as dead. */
  readonly lapsed: number;
  readonly seconds: number;
}

/**
 * Moves every key, with its TTL, to the node that owns it in `to`. Applications may read and write the keys during the move
 * through maps in transition. A resharding that was stopped or killed continues when it is run again. Minting is handed over
 * to `to` first.
 *
 * From the call on, `from` and `to` behave as maps in transition. After success, `to` behaves as before, and `from` forwards
 * to `to`.
 *
 * @throws InvalidOptionError when keys cannot be moved from one map to the other
 * @throws StoreError naming a node that failed. Run `reshard` again.
 * @throws the reason of `signal`, after the batches under way have finished
 *
 * @example
 * await reshard(new ShardMap(four), new ShardMap(six), { rate: 5000, onProgress: ({ moved }) => console.log(moved) });
 */
export async function reshard(
  from: ShardMap<unknown>,
  to: ShardMap<unknown>,
  options: ReshardOptions = {},
): Promise<ReshardReport> {
  requireKnown('options', options, RESHARD_OPTION_NAMES);
  const context = new ReshardContext(from, to);
  const settings = readMoveOptions(context, options);
  const { signal, acceptOlder, onProgress, onBegin } = settings;
  readKeySettings(context, options);
  signal?.throwIfAborted();

  const progress = new ProgressTracker(context, onProgress);
  // Before the first await: commands that follow the call of `reshard` already go through the transition.
  const endTransition = startTransition(context);
  let outcome: ReshardOutcome = 'not begun';
  try {
    const prepared = await prepareReshard(context, options, acceptOlder);
    onBegin();
    await handOver(from.sequences, to.sequences, { gone: [...context.gone], acceptOlder });
    outcome = 'not finished';
    const begun = await beginReshard(context, signal, { acceptOlder, settings: prepared.settings });
    const { round, lapsed } = begun;
    await moveAllKeys({ ...prepared, context, round, progress, direction: 'out' }, settings);
    await finishReshard(context, round);
    outcome = 'finished';
    return { ...progress.totals(), lapsed, mintedBefore: prepared.minting.mintedBefore };
  } finally {
    await endTransition(outcome);
  }
}
