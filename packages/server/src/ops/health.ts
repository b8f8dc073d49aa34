import type { ErrorCode, Store } from 'idsmith';

/** The reason why the server cannot mint ids. */
export interface NotReady {
  readonly code: ErrorCode | 'OVERLOADED';
  readonly detail: string;
}

/** The time for which a ping of the store counts, ms. */
const PING_LIFETIME = 1000;

/** The longest time a ping of the store may take, ms. */
const PING_TIMEOUT = 2000;

/** The readiness of the server. Anybody may ask for it, so the store is pinged at most once a second. */
export class Health {
  readonly #store: Store;
  readonly #familiesWithoutLease: () => readonly string[];
  /** Before the first ping, no ping counts: a process may be asked within its first second. */
  #pingedAt = Number.NEGATIVE_INFINITY;
  #ping: Promise<NotReady | undefined> = Promise.resolve(undefined);
  isClosing = false;

  /** @param familiesWithoutLease lists the families that cannot mint at present */
  constructor(store: Store, familiesWithoutLease: () => readonly string[]) {
    this.#store = store;
    this.#familiesWithoutLease = familiesWithoutLease;
  }

  /** The reason why the server is not ready; `undefined` if it is ready. */
  async check(): Promise<NotReady | undefined> {
    if (this.isClosing) return { code: 'OVERLOADED', detail: 'this server is shutting down' };
    const families = this.#familiesWithoutLease();
    if (families.length > 0)
      return { code: 'LEASE_FENCED', detail: `no active lease for ${families.join(', ')}` };
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
    const late = new Promise<NotReady>((resolve) => {
      const detail = `the store did not answer within ${PING_TIMEOUT} ms`;
      timer = setTimeout(() => resolve({ code: 'STORE', detail }), PING_TIMEOUT);
    });
    const ping = this.ping().then(
      () => undefined,
      (error: Error): NotReady => ({ code: 'STORE', detail: error.message }),
    );
    return Promise.race([ping, late]).finally(() => clearTimeout(timer));
  }
}
