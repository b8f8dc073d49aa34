import { StoreError } from '../../../errors.js';
import type { ReshardContext } from '../context.js';
import type { KeyPlacement } from '../plan/key-placement.js';
import type { Persistence } from '../plan/persistence.js';
import { DurabilityBarrier } from './durability-barrier.js';
import { type Direction, KeyMover } from './key-mover.js';
import type { MoveSettings } from './move-options.js';
import { NodePasses } from './node-passes.js';
import type { ProgressTracker } from './progress.js';
import { settleLeftovers } from './settle-leftovers.js';

/** The number of passes over all nodes after which the resharding gives up. */
const MAX_PASSES = 10;

/** The parts that a move of all keys works with. */
export interface MoveParts {
  /** The resharding in the direction of the move. */
  readonly context: ReshardContext;
  /** The round of the resharding that this process has begun or given up. */
  readonly round: number;
  readonly direction: Direction;
  readonly placement: KeyPlacement;
  readonly persistence: ReadonlyMap<string, Persistence>;
  readonly progress: ProgressTracker;
}

/**
 * Moves all keys that are on a node that no longer owns them. Makes passes over all nodes until a pass finds no key to move
 * and no mover has left anything unfinished.
 *
 * @throws StoreError naming a node that failed, or when processes with the other config write without end
 */
export async function moveAllKeys(parts: MoveParts, settings: MoveSettings): Promise<void> {
  const { context, round, direction, placement, persistence, progress } = parts;
  const { rateLimit, batch, signal, afterStep } = settings;
  const barrier = new DurabilityBarrier(persistence);
  const mover = new KeyMover(context.reshardId, {
    afterStep,
    barrier,
    round,
    direction,
  });
  const { concurrency } = barrier;
  const passes = new NodePasses(context, {
    ...{ placement, mover, progress, rateLimit, batch, concurrency, signal },
  });
  for (let pass = 1; ; pass++) {
    const found = await passes.run(pass === 1);
    if (found === 0 && (await settleLeftovers(context, mover, direction)) === 0) return;
    if (pass === MAX_PASSES)
      throw new StoreError(
        `resharding does not end: after ${pass} passes there are still keys on nodes that no longer own them. ` +
          `Processes with the ${direction === 'out' ? 'old' : 'new'} config write there: stop these processes, and run it again`,
      );
  }
}
