import { StoreError } from '../../errors.js';
import { refuse, requireInteger, requireKnown } from '../../options.js';
import { handOver } from '../mint/handover.js';
import type { ShardMap } from '../shard-map.js';
import { Parties } from './context.js';
import { type Between, Mover } from './move/key-mover.js';
import { leftovers, Passes } from './move/node-passes.js';
import { begin, finish, lookAt } from './move/phase.js';
import { type ReshardProgress, Tally } from './move/progress.js';
import { Pace } from './move/rate-limit.js';
import { requireDistinct } from './plan/check-distinct-servers.js';
import { requireNoClash } from './plan/check-targets-empty.js';
import { Places } from './plan/key-placement.js';
import {
  PLAN_NAMES,
  type PlanOptions,
  type ReshardPair,
  readAllKeys,
  readSignal,
} from './plan/plan-reshard.js';
import { takePart } from './route/transition-routing.js';

/** How many keys a round trip carries at most. */
const BATCH = 500;

/** How often all nodes are gone through before it is said that there is no end to it. */
const MAX_PASSES = 10;

/** How to reshard. */
export interface ReshardOptions extends PlanOptions {
  /** The most keys to move in a second. Default: as many as can be. */
  readonly rate?: number;
  /** The most keys to move in one go, while which their nodes do nothing else. Default 500. */
  readonly batch?: number;
  /** Is told where it is, after each batch. */
  readonly onProgress?: (progress: ReshardProgress) => void;
  /** @internal Called between the steps of a batch. */
  readonly between?: Between;
}

const RESHARD_NAMES = [...PLAN_NAMES, 'rate', 'batch', 'onProgress', 'between'];

/** What resharding has done. */
export interface ReshardReport {
  /** From → to, in the order of the nodes; only those with keys. */
  readonly pairs: readonly ReshardPair[];
  /** How many keys this run has moved, not counting those that were moved since somebody used them. */
  readonly moved: number;
  /** How large their values were, as they were sent. */
  readonly bytes: number;
  /** How many keys were where they belong already. */
  readonly stayed: number;
  /** Keys that were left alone: none of the map's making, or on a node that owned them in neither map. */
  readonly skipped: number;
  /** Keys of which the old owner's value was dropped, since the new one had another that did not come from there. */
  readonly superseded: number;
  /** Processes with a map in transition that had been silent for ten seconds, and were taken for ended. */
  readonly lapsed: number;
  readonly seconds: number;
}

/**
 * Moves every key to the node that owns it in `to`, with its TTL, while it may be read and written through maps in
 * transition. Ended at any point and run again it goes on. First of all minting goes over to `to`.
 *
 * From the call on, `getClient` and `genKey` of `from` and `to` themselves are those of a map in transition. Once it has
 * succeeded, `to` is what it was, and `from` follows it.
 *
 * @throws InvalidOptionError when keys cannot be moved from the one map to the other
 * @throws StoreError naming a node that failed. Run it again.
 * @throws the reason of `signal`, once what is under way has ended
 *
 * @example
 * await reshard(new ShardMap(four), new ShardMap(six), { rate: 5000, onProgress: ({ moved }) => console.log(moved) });
 */
export async function reshard(
  from: ShardMap<unknown>,
  to: ShardMap<unknown>,
  options: ReshardOptions = {},
): Promise<ReshardReport> {
  requireKnown('options', options, RESHARD_NAMES);
  const parties = new Parties(from, to);
  const { onProgress } = options;
  const signal = readSignal(options.signal);
  const pace = new Pace(readRate(options.rate));
  const batch = Math.min(requireInteger('batch', options.batch ?? BATCH, 1, 10_000), pace.most);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    refuse('onProgress', 'a function', onProgress);
  const places = new Places(parties, readAllKeys(options.allKeys));
  signal?.throwIfAborted();

  const tally = new Tally(parties, onProgress);
  // Before anything is waited for: what is called after `reshard` was called takes part in it.
  const end = takePart(parties);
  let outcome: Parameters<typeof end>[0] = 'not begun';
  try {
    const phases = await lookAt(parties);
    await requireDistinct(parties);
    if (!phases.every((phase) => phase === 'moving' || phase === 'done'))
      await requireNoClash(parties, places);
    await handOver(parties.from.marks, parties.to.marks);
    outcome = 'not finished';
    const lapsed = await begin(parties, signal);
    const mover = new Mover(parties.move, options.between);
    const passes = new Passes(parties, { places, mover, tally, pace, batch, signal });
    for (let pass = 1; ; pass++) {
      const found = await passes.run(pass === 1);
      if (found === 0 && (await leftovers(parties, places, mover)) === 0) break;
      if (pass === MAX_PASSES)
        throw new StoreError(
          `resharding has no end: after ${pass} passes there are still keys on nodes that no longer own them. ` +
            'Processes with the old config write there: end them, and run it again',
        );
    }
    await finish(parties);
    outcome = 'finished';
    return { ...tally.report(), lapsed };
  } finally {
    await end(outcome);
  }
}

function readRate(rate: unknown): number {
  if (rate === undefined || rate === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  if (typeof rate === 'number' && rate > 0) return rate;
  return refuse('rate', 'keys a second, more than 0', rate);
}
