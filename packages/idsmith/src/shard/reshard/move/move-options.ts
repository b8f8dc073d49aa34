import { refuse, requireInteger } from '../../../options.js';
import type { ReshardContext } from '../context.js';
import { giveUpNodes, type PlanOptions, readNodeNames, readSignal } from '../plan/plan-options.js';
import type { AfterStep } from './key-mover.js';
import type { ReshardProgress } from './progress.js';
import { RateLimit } from './rate-limit.js';

/** The default for the largest number of keys in one round trip. */
const BATCH = 500;

/** The options of `reshard` and `abortReshard` about how keys are moved. */
export interface MoveOptions extends Pick<PlanOptions, 'gone' | 'acceptOlder' | 'signal'> {
  /** The largest number of keys to move in a second. Default: no limit. */
  readonly rate?: number;
  /** The largest number of keys to move in one script. A node does nothing else while a script runs. Default 500. */
  readonly batch?: number;
  /** Called with the progress after each batch. */
  readonly onProgress?: (progress: ReshardProgress) => void;
  /** @internal Called after each step of a batch. */
  readonly afterStep?: AfterStep;
}

/** The names of `MoveOptions`. */
export const MOVE_OPTION_NAMES = [
  ...['rate', 'batch', 'onProgress', 'signal', 'gone', 'acceptOlder', 'afterStep'],
];

/** The checked options. */
export interface MoveSettings {
  readonly rateLimit: RateLimit;
  readonly batch: number;
  readonly onProgress: ((progress: ReshardProgress) => void) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly acceptOlder: readonly string[];
  readonly afterStep: AfterStep | undefined;
}

/**
 * Checks the options, and notes in the context which nodes are gone.
 *
 * @param context the resharding in the direction of the move
 * @throws InvalidOptionError naming the option that is wrong
 */
export function readMoveOptions(context: ReshardContext, options: MoveOptions): MoveSettings {
  const { onProgress, afterStep } = options;
  const rateLimit = new RateLimit(readRate(options.rate));
  const batch = Math.min(requireInteger('batch', options.batch ?? BATCH, 1, 10_000), rateLimit.largestBatch);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    refuse('onProgress', 'a function', onProgress);
  const acceptOlder = readNodeNames('acceptOlder', options.acceptOlder, context);
  giveUpNodes(context, options.gone);
  return { rateLimit, batch, onProgress, signal: readSignal(options.signal), acceptOlder, afterStep };
}

function readRate(rate: unknown): number {
  if (rate === undefined || rate === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  if (typeof rate === 'number' && rate > 0) return rate;
  return refuse('rate', 'keys per second, more than 0', rate);
}
