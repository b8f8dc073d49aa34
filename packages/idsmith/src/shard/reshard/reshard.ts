import { StoreError } from '../../errors.js';
import { refuse, requireInteger, requireKnown } from '../../options.js';
import { handOver } from '../mint/handover.js';
import type { ShardMap } from '../shard-map.js';
import { ReshardContext } from './context.js';
import { DurabilityBarrier } from './move/durability-barrier.js';
import { type AfterStep, KeyMover } from './move/key-mover.js';
import { NodePasses } from './move/node-passes.js';
import { beginReshard, finishReshard } from './move/phase.js';
import { ProgressTracker, type ReshardProgress } from './move/progress.js';
import { RateLimit } from './move/rate-limit.js';
import { settleLeftovers } from './move/settle-leftovers.js';
import { readKeySettings } from './plan/key-settings.js';
import { PLAN_OPTION_NAMES, type PlanOptions, readNodeNames, readSignal } from './plan/plan-options.js';
import type { ReshardPair } from './plan/plan-reshard.js';
import { prepareReshard } from './plan/prepare-reshard.js';
import type { SkippedKeys } from './plan/skipped-keys.js';
import { type ReshardOutcome, startTransition } from './route/transition-routing.js';

/** The default for the largest number of keys in one round trip. */
const BATCH = 500;

/** The number of passes over all nodes after which the resharding gives up. */
const MAX_PASSES = 10;

/** The options of `reshard`. */
export interface ReshardOptions extends PlanOptions {
  /** The largest number of keys to move in a second. Default: no limit. */
  readonly rate?: number;
  /** The largest number of keys to move in one script. A node does nothing else while a script runs. Default 500. */
  readonly batch?: number;
  /** Called with the progress after each batch. */
  readonly onProgress?: (progress: ReshardProgress) => void;
  /**
   * Names of nodes that were started again with older data or without any. Values at new owners are kept. Values that were
   * only on such a node are lost, and keys that were deleted since may come back.
   */
  readonly acceptOlder?: readonly string[];
  /** @internal Called after each step of a batch. */
  readonly afterStep?: AfterStep;
}

const RESHARD_OPTION_NAMES = [
  ...PLAN_OPTION_NAMES,
  'rate',
  'batch',
  'onProgress',
  'acceptOlder',
  'afterStep',
];

/** The report of a resharding. */
export interface ReshardReport extends SkippedKeys {
  /** The pairs of nodes with moved keys, in the order of the nodes. */
  readonly pairs: readonly ReshardPair[];
  /** The number of keys that this run moved. Keys that applications moved by using them are not counted. */
  readonly moved: number;
  /** The size of their values, as sent. */
  readonly bytes: number;
  /** The number of keys that were already on the right node. */
  readonly stayed: number;
  /** The number of values of old owners that were dropped because the new owner had a value of its own. */
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
  const { onProgress } = options;
  const signal = readSignal(options.signal);
  const rateLimit = new RateLimit(readRate(options.rate));
  const batch = Math.min(requireInteger('batch', options.batch ?? BATCH, 1, 10_000), rateLimit.largestBatch);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    refuse('onProgress', 'a function', onProgress);
  const acceptOlder = readNodeNames('acceptOlder', options.acceptOlder, context);
  readKeySettings(context, options);
  signal?.throwIfAborted();

  const progress = new ProgressTracker(context, onProgress);
  // Before the first await: commands that follow the call of `reshard` already go through the transition.
  const endTransition = startTransition(context);
  let outcome: ReshardOutcome = 'not begun';
  try {
    const { placement, settings, persistence } = await prepareReshard(context, options, acceptOlder);
    await handOver(from.sequences, to.sequences);
    outcome = 'not finished';
    const lapsed = await beginReshard(context, signal, { acceptOlder, settings });
    const barrier = new DurabilityBarrier(persistence);
    const mover = new KeyMover(context.reshardId, {
      afterStep: options.afterStep,
      makeDurable: (target) => barrier.wait(target),
    });
    const passes = new NodePasses(context, {
      placement,
      mover,
      progress,
      rateLimit,
      batch,
      signal,
      concurrency: barrier.concurrency,
    });
    await moveAllKeys(passes, () => settleLeftovers(context, mover));
    await finishReshard(context);
    outcome = 'finished';
    return { ...progress.totals(), lapsed };
  } finally {
    await endTransition(outcome);
  }
}

/** Makes passes over all nodes until a pass finds no key to move and no mover has left anything unfinished. */
async function moveAllKeys(passes: NodePasses, settle: () => Promise<number>): Promise<void> {
  for (let pass = 1; ; pass++) {
    const found = await passes.run(pass === 1);
    if (found === 0 && (await settle()) === 0) return;
    if (pass === MAX_PASSES)
      throw new StoreError(
        `resharding does not end: after ${pass} passes there are still keys on nodes that no longer own them. ` +
          'Processes with the old config write there: stop these processes, and run it again',
      );
  }
}

function readRate(rate: unknown): number {
  if (rate === undefined || rate === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  if (typeof rate === 'number' && rate > 0) return rate;
  return refuse('rate', 'keys per second, more than 0', rate);
}
