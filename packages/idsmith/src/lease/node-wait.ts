import { warn } from '#runtime';
import { show } from '../options.js';
import { report } from '../support/diagnostics.js';
import type { LeaseRecord, LeaseStore } from './port.js';

/** The wait of an acquisition for a node id that is free, and may not be used yet. */
export interface NodeWait {
  readonly namespace: string;
  /** The length of the wait, ms. */
  readonly ms: number;
  /**
   * `'new-namespace'`: the store can lose its data and knows nothing of the namespace, so windows that it may have forgotten must end
   * first. `'store-went-back'`: the store may have lost acknowledged writes, and the same holds. `'fence-ahead'`: the last holders were
   * granted times that lie ahead.
   */
  readonly reason: 'new-namespace' | 'store-went-back' | 'fence-ahead';
  /** The reason and the way out, for people. */
  readonly explanation: string;
  /** What is waited for, how long, and the explanation. */
  readonly message: string;
  /** The node ids that are held at present, of `size`. */
  readonly taken: number;
  /** The number of node ids of the namespace. */
  readonly size: number;
}

/** Shorter waits, ms, are part of every acquisition. */
const SHORT = 1000;

/** Waits of this length, ms, are a warning where `onWait` is left out. */
const LONG = 3000;

const EXPLANATIONS: Readonly<Record<NodeWait['reason'], string>> = {
  'new-namespace':
    'the store can lose its data, and leases that it may have forgotten must end first. This happens once after a loss or a failover, and ' +
    'once in a store that is new: there, idsmith init --store URL makes the wait unnecessary',
  'store-went-back':
    'the store may have lost acknowledged writes, as when a replica is promoted or a backup is restored, and leases that it may have ' +
    'forgotten must end first. A store whose failovers lose nothing needs no wait: see docs/lineage.md',
  'fence-ahead': 'the last holders were granted times ahead',
};

/** Announces a wait that begins now: on the channel `idsmith:lease`, and to `onWait`. */
export function announceWait(
  settings: Pick<NodeWait, 'namespace' | 'size'> & {
    readonly label: string;
    readonly onWait: (wait: NodeWait) => void;
    readonly store: Pick<LeaseStore, 'durable'>;
  },
  ms: number,
  { birth, now, taken }: { birth: LeaseRecord | undefined; now: number; taken: number },
): void {
  if (ms <= SHORT) return;
  const { namespace, label, size } = settings;
  const isFounded = birth !== undefined && birth.fence > now;
  const founded = settings.store.durable === false ? 'new-namespace' : 'store-went-back';
  const reason = isFounded ? founded : 'fence-ahead';
  const explanation = EXPLANATIONS[reason];
  const message = `waiting ${Math.ceil(ms / 1000)} s for a node id of namespace ${show(namespace)}: ${explanation}`;
  report('idsmith:lease', () => ({
    event: 'waiting',
    namespace,
    ms,
    reason,
    ...(label && { label }),
  }));
  try {
    settings.onWait({ namespace, ms, reason, explanation, message, taken, size });
  } catch (error) {
    // As for every listener: its error surfaces, and does not disturb the acquisition.
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Warns the operator of a long wait. */
export function warnOfWait({ ms, message }: NodeWait): void {
  if (ms >= LONG) warn(message, 'LEASE_WAIT');
}
