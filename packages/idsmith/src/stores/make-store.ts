import { ClosedError, IdError, StoreError } from '../errors.js';
import type { LeaseStore } from '../lease/port.js';
import type { SequenceStore } from '../sequence/port.js';
import { report } from '../support/diagnostics.js';
import { reasonOf } from '../support/store-error.js';
import type { DisposableStore, Store } from './store.js';

/** A backend, as messages and events name it. */
type StoreKind =
  | 'memory'
  | 'sqlite'
  | 'postgres'
  | 'mysql'
  | 'oracle'
  | 'redis'
  | 'dynamodb'
  | 'etcd'
  | 'http';

/** A client that `openStore` made for a store. */
export interface OwnClient {
  /** The address of the server, for messages: `10.0.0.1:5432`. */
  readonly at?: string;
  /** Ends the client. */
  end(): unknown;
}

type Method = (...args: never[]) => Promise<unknown>;

/**
 * The store of a backend's methods. After `close()`, every method throws a `ClosedError`. The channel `idsmith:store` carries
 * the events `opened`, `closed` and `error`.
 *
 * @param own the client that ends with the store
 */
export function makeStore(
  kind: StoreKind,
  methods: LeaseStore & SequenceStore & Pick<Store, 'schemaVersion'>,
  own?: OwnClient,
): DisposableStore {
  let closing: Promise<void> | undefined;

  const watched =
    (operation: string, method: Method): Method =>
    async (...args) => {
      if (closing) throw new ClosedError(`the ${kind} store is closed: open another one`);
      try {
        return await method(...args);
      } catch (error) {
        if (isFailure(error))
          report('idsmith:store', () => ({ event: 'error', store: kind, operation, error }));
        throw error;
      }
    };

  async function closeOnce(): Promise<void> {
    try {
      await own?.end();
    } catch (error) {
      const failure = new StoreError(`closing the ${kind} store failed: ${reasonOf(error)}`, {
        cause: error,
      });
      report('idsmith:store', () => ({ event: 'error', store: kind, operation: 'close', error: failure }));
      throw failure;
    } finally {
      report('idsmith:store', () => ({ event: 'closed', store: kind }));
    }
  }
  const close = () => {
    closing ??= closeOnce();
    return closing;
  };

  // Descriptors, because a store may learn its properties later: those are getters.
  const members = Object.getOwnPropertyDescriptors(methods);
  for (const [name, member] of Object.entries(members))
    if (typeof member.value === 'function') member.value = watched(name, member.value);
  report('idsmith:store', () => ({ event: 'opened', store: kind }));
  const store = Object.defineProperties({}, members) as typeof methods;
  return Object.assign(store, { close, [Symbol.asyncDispose]: close });
}

/** True if the store failed. Other errors are answers: there is no such sequence, or no id is left. */
function isFailure(error: unknown): boolean {
  return !(error instanceof IdError) || error.code === 'STORE';
}
