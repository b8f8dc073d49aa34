import { acquireLease } from '../lease/acquire-lease.js';
import type { Lease } from '../lease/lease.js';
import { requireNamespace } from '../lease/namespace.js';
import type { NodeWait } from '../lease/node-wait.js';
import type { LeaseOptions } from '../lease/options.js';
import { show } from '../options.js';
import type { Given } from './command.js';
import { withStore } from './store.js';

/** Leases a node id from the store that the user has named, mints ids with it, and gives it back. */
export async function* leasedIds(
  given: Given,
  options: LeaseOptions,
  mint: (lease: Lease) => AsyncIterable<string>,
): AsyncIterable<string> {
  const { namespace } = options;
  requireNamespace(namespace);
  const { activity, signal } = given;
  yield* withStore(given, true, async function* (store) {
    const onWait = ({ message, ms }: NodeWait) => activity.wait(message, ms);
    const lease = await acquireLease(store, { ...options, onWait, signal });
    activity.end();
    activity.say(`leased node id ${lease.id} of namespace ${show(namespace)}`);
    try {
      yield* mint(lease);
    } finally {
      await lease.release();
      activity.say(`released node id ${lease.id}`);
    }
  });
}

/** Mints `count` ids in batches. A lease is renewed between two of them. */
export async function* inBatches(
  count: number,
  mint: (count: number) => Iterable<string | bigint>,
): AsyncIterable<string> {
  for (let left = count; left > 0; left -= 1000) {
    for (const id of mint(Math.min(left, 1000))) yield String(id);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
