import { hasMethods } from '../../drivers/driver.js';
import type { SqlValue } from '../../drivers/port.js';
import { refuse } from '../../options.js';
import type { DriverError } from '../../support/store-error.js';
import { type RemoteSqliteOptions, remoteSqliteStore } from '../sqlite/remote.js';
import type { DisposableStore } from '../store.js';

/**
 * The address of requests between a Worker and its object. No request from outside has this host, so a Worker that passes requests on
 * to the object does not open the database to everybody.
 */
const ADDRESS = 'https://idsmith-store.invalid/';

/** The part of a Durable Object's stub that the store uses. */
export interface DurableObjectStub {
  fetch(
    url: string,
    init: { method: string; body: string },
  ): Promise<{ ok: boolean; json(): Promise<unknown> }>;
}

/** The part of a Durable Object's state that {@link IdStoreObject} uses. */
export interface DurableObjectState {
  readonly storage: {
    readonly sql: { exec(sql: string, ...values: never[]): { toArray(): unknown[] } };
  };
}

/**
 * The class of a Durable Object that keeps leases and sequences in its SQLite. Export the class from the Worker, and name it among
 * `new_sqlite_classes` of the migrations in `wrangler.jsonc`.
 */
export class IdStoreObject {
  readonly #state: DurableObjectState;

  constructor(state: DurableObjectState) {
    this.#state = state;
  }

  /** Runs one statement of a store. Any other request is refused. */
  async fetch(request: Request): Promise<Response> {
    if (request.url !== ADDRESS) return new Response('this object answers stores only', { status: 404 });
    const { sql, values } = (await request.json()) as { sql: string; values: SqlValue[] };
    try {
      const { exec } = this.#state.storage.sql as {
        exec(sql: string, ...values: unknown[]): { toArray(): unknown[] };
      };
      return Response.json(exec.call(this.#state.storage.sql, sql, ...values).toArray());
    } catch (error) {
      return Response.json({ message: (error as Error).message }, { status: 500 });
    }
  }
}

/** The errors of a stub tell whether another try makes sense. */
type StubError = DriverError & { readonly retryable?: boolean; readonly overloaded?: boolean };

/**
 * A store in the SQLite of one Durable Object: `durableObjectStore(env.IDS.get(env.IDS.idFromName('ids')))`. The object has the class
 * {@link IdStoreObject}. All processes that share leases and sequences use the same object.
 *
 * @throws InvalidOptionError if `stub` is not the stub of an object
 */
export function durableObjectStore(
  stub: DurableObjectStub,
  options: RemoteSqliteOptions = {},
): DisposableStore {
  if (!hasMethods(stub, 'fetch'))
    refuse('stub', 'the stub of a Durable Object: env.IDS.get(env.IDS.idFromName(name))', stub);
  return remoteSqliteStore(
    {
      kind: 'durable-object',
      async query(sql, values) {
        const response = await (stub as DurableObjectStub).fetch(ADDRESS, {
          method: 'POST',
          body: JSON.stringify({ sql, values }),
        });
        const answer = await response.json();
        if (!response.ok) throw new Error((answer as { message: string }).message);
        return answer as unknown[];
      },
      isTransient: (error) => (error as StubError).overloaded === true,
      isLost: (error) => (error as StubError).retryable === true,
    },
    options,
  );
}
