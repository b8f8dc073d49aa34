import type { LeaseStore } from '../lease/port.js';
import { NAMESPACE_ID } from '../lease/protocol.js';
import { show } from '../options.js';
import { systemTimer, type Timer } from '../support/timer.js';
import type { Activity } from './activity.js';

/** Shorter waits, ms, are part of every acquisition. */
const SHORT = 1000;

/** Longer timers, ms, only keep the process alive. */
const LONG = 86_400_000 * 4;

/** Timers for `acquireLease` that tell the user how long the acquisition waits for a node id, and why. */
export function tellingTimer(activity: Activity, store: LeaseStore, namespace: string): Timer {
  return {
    after(ms, fn, background) {
      const isWait = !background && ms > SHORT && ms < LONG;
      if (isWait)
        void reasonOf(store, namespace).then((reason) =>
          activity.wait(
            `waiting ${Math.ceil(ms / 1000)} s for a node id of namespace ${show(namespace)}: ${reason}`,
            ms,
          ),
        );
      return systemTimer.after(ms, fn, background);
    },
  };
}

/** Why nobody can have a node id of the namespace yet. */
async function reasonOf(store: LeaseStore, namespace: string): Promise<string> {
  const now = (await store.now?.().catch(() => undefined)) ?? Date.now();
  const records = await store.listLeases(namespace).catch(() => []);
  const birth = records.find(({ id }) => id === NAMESPACE_ID);
  if (birth !== undefined && birth.fence > now)
    return (
      'the namespace is new in a store that can lose its data, so leases that the store may have forgotten must end first. ' +
      'This happens once'
    );
  return 'the last holders were granted times ahead, and new ids begin after those';
}
