import { StoreError } from '../errors.js';
import type { Store } from './store.js';

/** The store with a `close()` that ends the client made for the store, once. */
export function ownedStore(store: Store, end: () => unknown): Store {
  let closed: Promise<void> | undefined;
  const close = async () => {
    try {
      await end();
    } catch (error) {
      throw new StoreError(`closing the store failed: ${(error as Error).message}`, { cause: error });
    }
  };
  return {
    ...store,
    close() {
      closed ??= close();
      return closed;
    },
  };
}
