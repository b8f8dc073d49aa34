import type { ErrorCode, Store } from 'idsmith';
import type { HttpCode } from '../http/problem.js';
import type { Mint } from '../mint/leased-minter.js';

/** Why no ids can be minted. */
export interface Unready {
  readonly code: ErrorCode | HttpCode;
  readonly detail: string;
}

/** How long an answer of the store counts, and how long it may take, ms. */
const FRESH = 1000;
const PATIENCE = 2000;

/** Knows whether the server is ready. Anybody may ask, so the store is asked once a second at most. */
export class Health {
  readonly #store: Store;
  readonly #mint: Mint;
  #asked = 0;
  #answer: Promise<Unready | undefined> = Promise.resolve(undefined);
  isClosing = false;

  constructor(store: Store, mint: Mint) {
    this.#store = store;
    this.#mint = mint;
  }

  /** What keeps it from minting, if anything does. */
  async trouble(): Promise<Unready | undefined> {
    if (this.isClosing) return { code: 'OVERLOADED', detail: 'this server is about to end' };
    const { stalled } = this.#mint;
    if (stalled.length > 0)
      return { code: 'LEASE_FENCED', detail: `there is no active lease for ${stalled.join(', ')}` };
    if (performance.now() - this.#asked > FRESH) {
      this.#asked = performance.now();
      this.#answer = this.#ask();
    }
    return this.#answer;
  }

  /** @throws StoreError when the store does not answer */
  async ping(): Promise<void> {
    await (this.#store.now?.() ?? this.#store.listLeases('locality'));
  }

  async #ask(): Promise<Unready | undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<Unready>((resolve) => {
      const unready: Unready = { code: 'STORE', detail: `the store has not answered within ${PATIENCE} ms` };
      timer = setTimeout(() => resolve(unready), PATIENCE);
    });
    const asked = this.ping().then(
      () => undefined,
      (error: Error): Unready => ({ code: 'STORE', detail: error.message }),
    );
    return Promise.race([asked, late]).finally(() => clearTimeout(timer));
  }
}
