import { processLabel } from '#runtime';
import { requireLabel } from '../lease/options.js';
import { refuse, requireKnown } from '../options.js';
import { openStore } from '../stores/open.js';
import type { Store } from '../stores/store.js';
import { requireSignal, unlessAborted } from '../support/abort.js';
import { Ids } from './ids.js';
import type { ConnectOptions } from './options.js';

/**
 * Connects to a store, and gives everything that makes ids on it.
 *
 * @param target the URL of a store, as for `openStore`, or a store. A store that the caller opened stays open after `close()`.
 * @throws InvalidOptionError when the URL or an option is wrong
 * @throws StoreError when the driver is not installed, or a file cannot be opened
 * @throws the reason of `signal` when it is aborted
 *
 * @example
 * const ids = await connect('sqlite:./ids.db');
 * const orders = await ids.flakes('orders');
 * orders.next(); // 1703865194431643648n
 */
export async function connect(target: string | Store, options: ConnectOptions = {}): Promise<Ids> {
  requireKnown('options', options, ['signal', 'label']);
  const label = requireLabel(options.label ?? processLabel());
  const signal = requireSignal(options.signal);
  signal?.throwIfAborted();
  if (typeof target !== 'string') return new Ids(requireStore(target), { label, ownsStore: false });
  const opening = openStore(target);
  try {
    return new Ids(await unlessAborted(opening, signal), { label, ownsStore: true });
  } catch (error) {
    // A store that opens after the signal belongs to nobody.
    opening.then((store) => store.close()).catch(() => undefined);
    throw error;
  }
}

function requireStore(store: Store): Store {
  const methods = ['listLeases', 'swapLease', 'allocate', 'defineSequence', 'describeSequence'] as const;
  if (methods.every((method) => typeof store?.[method] === 'function')) return store;
  refuse('target', 'the URL of a store, or a store', store);
}
