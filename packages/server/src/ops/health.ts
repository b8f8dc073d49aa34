import { type ErrorCode, IdError, type Store, StoreError } from 'idsmith';
import type { Log } from './log.js';

/** The reason why the server cannot mint ids. */
export interface NotReady {
  readonly code: ErrorCode | 'OVERLOADED';
  readonly detail: string;
  /** The time after which another request makes sense, seconds. */
  readonly retryAfter?: number;
}

/** The time for which a ping of the store counts, ms. */
const PING_LIFETIME = 1000;

/** The longest time a ping of the store may take, ms. */
const PING_TIMEOUT = 2000;

/** A family that cannot be minted at present. */
export interface Refusal {
  readonly family: string;
  readonly error: unknown;
  /** The reason in words that anybody may read, if there are any. */
  readonly reason?: string;
  /** The time after which another request makes sense, seconds. */
  readonly retryAfter?: number;
}

/**
 * The readiness of the server. Anybody may ask for it. So the store is pinged at most once a second, and the answer does not hold
 * the messages of errors, which may name the store: the log has them.
 */
export class Health {
  readonly #store: Store;
  readonly #refusals: () => readonly Refusal[];
  readonly #log: Log;
  /** Before the first ping, no ping counts: a process may be asked within its first second. */
  #pingedAt = Number.NEGATIVE_INFINITY;
  #ping: Promise<NotReady | undefined> = Promise.resolve(undefined);
  isClosing = false;

  /** @param refusals lists the families that cannot be minted at present */
  constructor(store: Store, refusals: () => readonly Refusal[], log: Log) {
    this.#store = store;
    this.#refusals = refusals;
    this.#log = log;
  }

  /** The reason why the server is not ready; `undefined` if it is ready. */
  async check(): Promise<NotReady | undefined> {
    if (this.isClosing) return { code: 'OVERLOADED', detail: 'this server is shutting down' };
    const refusals = this.#refusals();
    const [first] = refusals;
    if (first !== undefined) {
      const families = refusals.map(({ family }) => family).join(', ');
      return this.#notReady(`this server cannot mint at present: ${families}`, first.error, first);
    }
    if (performance.now() - this.#pingedAt > PING_LIFETIME) {
      this.#pingedAt = performance.now();
      this.#ping = this.#pingInTime();
    }
    return this.#ping;
  }

  /** @throws StoreError when the store does not answer */
  async ping(): Promise<void> {
    await (this.#store.now?.() ?? this.#store.listLeases('locality'));
  }

  async #pingInTime(): Promise<NotReady | undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new StoreError(`the store did not answer within ${PING_TIMEOUT} ms`, {
        reason: 'TIMEOUT',
      });
      timer = setTimeout(() => reject(error), PING_TIMEOUT);
    });
    try {
      await Promise.race([this.ping(), late]);
      return undefined;
    } catch (error) {
      return this.#notReady('the store does not answer as it should', error);
    } finally {
      clearTimeout(timer);
    }
  }

  #notReady(what: string, error: unknown, told: Pick<Refusal, 'reason' | 'retryAfter'> = {}): NotReady {
    this.#log.error('not ready', { error });
    const code = error instanceof IdError ? error.code : 'STORE';
    const { reason = 'the log of the server has the reason', retryAfter } = told;
    return { code, detail: `${what}; ${reason}`, ...(retryAfter !== undefined && { retryAfter }) };
  }
}
