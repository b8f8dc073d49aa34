import type { ScriptClient } from '../../redis/client.js';
import { withTimeout } from '../../support/timeout.js';

/** The longest time that a connection may take until it can be used, ms. Less than the timeout of an operation. */
const CONNECT_TIMEOUT = 4500;

/** A connection to Redis that was made, and its end. */
export interface Connection extends ScriptClient {
  /** False once the connection is lost or ended. */
  readonly isUp: boolean;
  end(): void;
}

/**
 * A client that connects when it is first used, and again after a loss. Drivers that connect again by themselves hide why they
 * cannot, go on in database 0 when the server refuses another one, and may send a command twice.
 */
export class OwnRedisClient implements ScriptClient {
  readonly #begin: () => { ready: Promise<unknown>; connection: Connection };
  readonly #timeout: number;
  #opening: Promise<Connection> | undefined;
  #isEnded = false;

  /**
   * @param begin starts a connection; `ready` resolves when it can be used
   * @param timeout the longest wait for an answer, ms. Then the connection counts as lost.
   */
  constructor(begin: () => { ready: Promise<unknown>; connection: Connection }, timeout: number) {
    this.#begin = begin;
    this.#timeout = timeout;
  }

  async evaluate(...call: Parameters<ScriptClient['evaluate']>): Promise<unknown> {
    const connection = await this.#connected();
    return withTimeout(connection.evaluate(...call), this.#timeout, { onTimeout: () => connection.end() });
  }

  /** Ends the connection, also one that is being made. */
  end(): void {
    this.#isEnded = true;
    this.#opening?.then((connection) => connection.end()).catch(() => undefined);
  }

  /** The connection that is up. Callers at the same time share one attempt to connect. */
  async #connected(): Promise<Connection> {
    for (;;) {
      if (this.#isEnded) throw new Error('the client has ended');
      const isNew = this.#opening === undefined;
      const opening = this.#opening ?? this.#open();
      const connection = await opening;
      if (connection.isUp) return connection;
      if (this.#opening === opening) this.#opening = undefined;
      // A server that drops every connection must not be asked again without end.
      if (isNew && !this.#isEnded) throw new Error('the connection was lost at once');
    }
  }

  #open(): Promise<Connection> {
    const { ready, connection } = this.#begin();
    const opening = withTimeout(ready, CONNECT_TIMEOUT).then(
      () => connection,
      (error: unknown) => {
        connection.end();
        if (this.#opening === opening) this.#opening = undefined;
        throw error;
      },
    );
    this.#opening = opening;
    return opening;
  }
}
