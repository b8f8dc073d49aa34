import { ClosedError, IdError, StoreError } from '../errors.js';
import { STORE_NAMESPACE } from '../lease/namespace.js';
import type { LeaseStore } from '../lease/port.js';
import type { SequenceStore } from '../sequence/port.js';
import { report } from '../support/diagnostics.js';
import { storeError } from '../support/store-error.js';
import type { DisposableStore, Store } from './store.js';
import { witnessed } from './witness.js';

// What every store of this library has, whatever its backend: an end, events, and a memory of the numbers that it gave to this process.

/** A backend, as messages and events name it. */
type StoreKind =
  | 'memory'
  | 'sqlite'
  | 'd1'
  | 'durable-object'
  | 'libsql'
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

/** Methods that do not ask the store. They work after `close()`. */
const AT_ONCE = ['warnings', 'lineageRead', 'settled', 'noteTaken'];

type Method = (...args: never[]) => Promise<unknown>;

/**
 * The store of a backend's methods. A call goes to the method of the backend as it is, and so does the answer, with three exceptions. After
 * `close()`, every method throws a `ClosedError`. A number that the store has given before is refused: see {@link witnessed}. The
 * channel `idsmith:store` carries the events `opened`, `closed` and `error`.
 *
 * @param own the client that ends with the store
 */
export function makeStore(
  kind: StoreKind,
  methods: LeaseStore & SequenceStore & Pick<Store, 'schemaVersion' | 'sql'>,
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
      await methods.settled?.();
      await own?.end();
    } catch (error) {
      const failure = storeError(`closing the ${kind} store`, error);
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
  let told: string | undefined;
  const witness = witnessed(methods);
  const remembering: Record<string, unknown> = {
    ...witness.methods,
    ...(methods.namespaces && {
      // The store's own record is in a namespace, too, which is nobody's business.
      namespaces: async () =>
        (await methods.namespaces?.())?.filter((namespace) => namespace !== STORE_NAMESPACE),
    }),
    ...(methods.moment && {
      moment: async (namespace: string) => {
        const moment = await methods.moment?.(namespace);
        told = moment?.lineage;
        return moment;
      },
    }),
  };
  for (const [name, member] of Object.entries(members))
    if (typeof member.value === 'function' && !AT_ONCE.includes(name))
      member.value = watched(name, (remembering[name] as Method | undefined) ?? member.value);
  report('idsmith:store', () => ({ event: 'opened', store: kind }));
  const store = Object.defineProperties({}, members) as typeof methods;
  Object.defineProperty(store, 'lineage', { configurable: true, get: () => told ?? methods.lineageRead?.() });
  Object.defineProperty(store, 'witness', { configurable: true, value: witness });
  return Object.assign(store, { close, [Symbol.asyncDispose]: close });
}

/** True if the store failed. Other errors are answers: there is no such sequence, or no id is left. */
function isFailure(error: unknown): boolean {
  return !(error instanceof IdError) || error instanceof StoreError;
}
