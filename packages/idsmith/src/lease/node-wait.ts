import { warn } from '#runtime';
import { show } from '../options.js';
import { report } from '../support/diagnostics.js';
import type { LeaseSettings } from './options.js';
import type { LeaseRecord } from './port.js';

/** The wait of an acquisition for a node id that nobody holds, and that nobody may use yet. */
export interface NodeWait {
  readonly namespace: string;
  /** The length of the wait, ms. */
  readonly ms: number;
  /**
   * `'new-namespace'`: the store can lose its data and knows nothing of the namespace, so windows that it may have forgotten must end
   * first. `'fence-ahead'`: the last holders were granted times that lie ahead.
   */
  readonly reason: 'new-namespace' | 'fence-ahead';
  /** What is waited for, how long, and the way out, for people. */
  readonly message: string;
}

/** Shorter waits, ms, are part of every acquisition. */
const SHORT = 1000;

/** Waits of this length, ms, are told to the operator where nobody else listens. */
const LONG = 3000;

const REASONS: Readonly<Record<NodeWait['reason'], string>> = {
  'new-namespace':
    'the namespace is new in a store that can lose its data, and leases that it may have forgotten must end first. This happens once. ' +
    'Only a Redis with appendonly yes, appendfsync always and no replica needs no wait: add ?durable=true to its URL',
  'fence-ahead': 'the last holders were granted times ahead',
};

/** Tells of a wait that begins now: on the channel `idsmith:lease`, and to `onWait`. */
export function tellWait(
  settings: LeaseSettings,
  birth: LeaseRecord | undefined,
  ms: number,
  now: number,
): void {
  if (ms <= SHORT) return;
  const { namespace, label } = settings;
  const reason = birth !== undefined && birth.fence > now ? 'new-namespace' : 'fence-ahead';
  const message = `waiting ${Math.ceil(ms / 1000)} s for a node id of namespace ${show(namespace)}: ${REASONS[reason]}`;
  report('idsmith:lease', () => ({
    ...{ event: 'waiting', namespace, ms, reason },
    ...(label && { label }),
  }));
  try {
    settings.onWait({ namespace, ms, reason, message });
  } catch (error) {
    // As for every listener: its error disturbs nobody, and surfaces.
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Warns the operator of a long wait. */
export function warnOfWait({ ms, message }: NodeWait): void {
  if (ms >= LONG) warn(message, 'LEASE_WAIT');
}
