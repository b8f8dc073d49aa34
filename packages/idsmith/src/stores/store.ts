/// <reference lib="esnext.disposable" preserve="true" />
import type { SqlExecutor } from '../drivers/port.js';
import { ClosedError, IdError, StoreError } from '../errors.js';
import { STORE_NAMESPACE } from '../lease/namespace.js';
import type { LeaseStore } from '../lease/port.js';
import { witnessed } from '../lineage/witness.js';
import type { SequenceStore } from '../sequence/port.js';
import { report } from '../support/diagnostics.js';
import { storeError } from '../support/store-error.js';
import type { SchemaVersion } from './schema-version.js';

/** A place that keeps leases and sequences. Every backend makes one. */
export interface Store extends LeaseStore, SequenceStore {
  /** The form of the data in the store. A store in memory has none, and a store of your own may do without it. */
  schemaVersion?(): Promise<SchemaVersion>;
  /** A person confirms that the store knows all names that were ever used in it. Only for a store that can forget: `idsmith init` calls it. */
  confirmNames?(): Promise<void>;
  /** The database, if the store is in an SQL database and can have a connection for a transaction. */
  readonly sql?: SqlAccess;
  /** The lineage that the store has told last; `undefined` until then, and if it cannot tell. */
  readonly lineage?: string | undefined;
  /** Ends the store, and its client if `openStore` made the client. A client that the caller made stays open. Idempotent. */
  close(): Promise<void>;
  /** The same as {@link close}. A store of your own may do without it. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

/** A store of this library. After `close()`, or at the end of an `await using`, its methods throw a `ClosedError`. */
export interface DisposableStore extends Store {
  [Symbol.asyncDispose](): Promise<void>;
}

/** The database of a store, for work that must be one transaction with the numbers it takes. */
export interface SqlAccess {
  /** Sends statements outside of transactions. */
  readonly outside: SqlExecutor;
  /** Runs `work` in a transaction of its own, and commits. An error rolls back. */
  transact<T>(work: (sql: SqlExecutor) => Promise<T>): Promise<T>;
}

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
const AT_ONCE = ['warnings', 'lineageRead', 'settled'];

type Method = (...args: never[]) => Promise<unknown>;

/**
 * The store of a backend's methods. After `close()`, every method throws a `ClosedError`. The channel `idsmith:store` carries
 * the events `opened`, `closed` and `error`.
 *
 * @param own the client that ends with the store
 */
export function makeStore(
  kind: StoreKind,
  methods: LeaseStore & SequenceStore & Pick<Store, 'schemaVersion' | 'sql' | 'confirmNames'>,
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
  const remembering: Record<string, unknown> = {
    ...witnessed(methods),
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
  return Object.assign(store, { close, [Symbol.asyncDispose]: close });
}

/** True if the store failed. Other errors are answers: there is no such sequence, or no id is left. */
function isFailure(error: unknown): boolean {
  return !(error instanceof IdError) || error instanceof StoreError;
}
