import { type LeaseOptions, type LeaseStore, LeasesExhaustedError, type NodeWait } from 'idsmith';

/** A server that has no node id yet. */
export class WaitingForNodeError extends LeasesExhaustedError {
  /** The reason in words that anybody may read. They do not name the namespace or the store. */
  readonly reason: string;
  /** The time after which another request makes sense, seconds. */
  readonly retryAfter: number;

  constructor(message: string, reason: string, retryAfter: number, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.retryAfter = retryAfter;
  }
}

const REASONS: Readonly<Record<NodeWait['reason'], string>> = {
  'new-namespace':
    'it is new in a store that can lose its data, and leases that the store may have forgotten must end first',
  'fence-ahead': 'the last holders were granted times ahead',
};

/** The least time between two counts of the node ids, ms: a count reads the whole namespace. */
const COUNT_PAUSE = 10_000;

/** What is known of the wait for a node id, for those who ask meanwhile. */
export class NodeWaiting {
  readonly #store: LeaseStore;
  readonly #namespace: string;
  readonly #size: number;
  #taken: number | undefined;
  #countedAt = Number.NEGATIVE_INFINITY;
  #wait: { readonly until: number; readonly reason: NodeWait['reason'] } | undefined;
  #failure: unknown;

  constructor(store: LeaseStore, options: LeaseOptions) {
    this.#store = store;
    this.#namespace = options.namespace;
    this.#size = options.size ?? options.layout?.nodes ?? 0;
  }

  /** Notes a wait that begins now. */
  begins({ ms, reason }: NodeWait): void {
    this.#wait = { until: performance.now() + ms, reason };
    void this.#count();
  }

  /** Notes an attempt that failed. */
  async failed(error: unknown): Promise<void> {
    this.#wait = undefined;
    if (isExhausted(error)) await this.#count();
    this.#failure = error;
  }

  /** The error for those who want ids at present. */
  get error(): unknown {
    const namespace = JSON.stringify(this.#namespace);
    const taken = this.#taken === undefined ? '' : `${this.#taken} of ${this.#size} node ids are taken`;
    if (this.#wait !== undefined) {
      const { until, reason } = this.#wait;
      const seconds = Math.max(1, Math.ceil((until - performance.now()) / 1000));
      return new WaitingForNodeError(
        sentences(
          `this server waits ${seconds} s for a node id in namespace ${namespace}: ${REASONS[reason]}`,
          taken,
        ),
        sentences(`it waits ${seconds} s for a node id`, taken),
        seconds,
      );
    }
    if (this.#failure === undefined)
      return new WaitingForNodeError(
        `this server is waiting for a node id in namespace ${namespace}: its store has not answered yet`,
        'it waits for a node id: its store has not answered yet',
        1,
      );
    if (!isExhausted(this.#failure)) return this.#failure;
    return new WaitingForNodeError(
      // A failure that names them all needs no number besides.
      sentences((this.#failure as Error).message, this.#taken === this.#size ? '' : taken),
      sentences('it found no node id that is free', taken),
      1,
      { cause: this.#failure },
    );
  }

  async #count(): Promise<void> {
    if (performance.now() - this.#countedAt < COUNT_PAUSE) return;
    this.#countedAt = performance.now();
    try {
      const [records, now = Date.now()] = await Promise.all([
        this.#store.listLeases(this.#namespace),
        this.#store.now?.(),
      ]);
      this.#taken = records.filter(
        ({ id, owner, expiresAt }) => id >= 0 && owner !== null && expiresAt > now,
      ).length;
    } catch {
      // The attempts to get a lease tell of a store that fails.
      this.#taken = undefined;
    }
  }
}

const sentences = (first: string, second: string) => (second === '' ? first : `${first}; ${second}`);

/** Compared by code, not by class: two copies of the library may be loaded. */
const isExhausted = (error: unknown) =>
  (error as { code?: unknown } | undefined)?.code === 'LEASES_EXHAUSTED';
