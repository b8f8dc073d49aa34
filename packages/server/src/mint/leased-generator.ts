import {
  acquireLease,
  type Lease,
  type LeaseOptions,
  type LeaseStore,
  LeasesExhaustedError,
  type Timer,
} from 'idsmith';
import type { Log } from '../ops/log.js';
import type { LeaseGauge } from '../ops/metrics.js';

/** Timers of leases. They do not keep the process alive: the listening socket does. */
const timer: Timer = {
  after(ms, fn) {
    const handle = setTimeout(fn, ms).unref();
    return () => clearTimeout(handle);
  },
};

/** The pause before another attempt to acquire a lease, ms. */
const RETRY_PAUSE = 1000;

/**
 * A generator with a lease of its own. The lease is acquired in the background, and attempts go on until one succeeds: a store that
 * can forget makes all servers wait for a minute, and all node ids may be held.
 */
export class LeasedGenerator<T> {
  readonly family: string;
  readonly #store: LeaseStore;
  readonly #options: LeaseOptions;
  readonly #make: (lease: Lease) => T;
  readonly #log: Log;
  #lease: Lease | undefined;
  #generator: T | undefined;
  #failure: unknown;
  #started: Promise<void> | undefined;
  #closed = false;

  constructor(family: string, store: LeaseStore, options: LeaseOptions, make: (lease: Lease) => T, log: Log) {
    this.family = family;
    this.#store = store;
    this.#options = options;
    this.#make = make;
    this.#log = log;
  }

  /**
   * The generator.
   *
   * @throws the error of the last attempt to acquire a lease; LeasesExhaustedError during the first attempt
   */
  get generator(): T {
    if (this.#generator !== undefined) return this.#generator;
    throw (
      this.#failure ??
      new LeasesExhaustedError(
        `this server is waiting for a node id in namespace ${JSON.stringify(this.#options.namespace)}`,
      )
    );
  }

  /** True if the generator can mint. */
  get isActive(): boolean {
    return this.#lease?.state === 'active';
  }

  /** True once `start()` was called. */
  get isStarted(): boolean {
    return this.#started !== undefined;
  }

  get gauge(): LeaseGauge & { node: number | null; until: number } {
    const until = this.#lease?.until ?? 0;
    return {
      family: this.family,
      namespace: this.#options.namespace,
      state: this.#lease?.state ?? 'waiting',
      node: this.#lease?.id ?? null,
      until,
      left: Math.max(0, (until - Date.now()) / 1000),
    };
  }

  /**
   * Starts to acquire the lease. The promise resolves when the generator has its lease.
   *
   * @throws InvalidOptionError if no attempt can ever succeed
   */
  start(): Promise<void> {
    this.#started ??= this.#acquire();
    return this.#started;
  }

  async #acquire(): Promise<void> {
    const { namespace } = this.#options;
    while (!this.#closed) {
      try {
        const lease = await acquireLease(this.#store, { ...this.#options, timer });
        if (this.#closed) return await lease.release();
        this.#logEvents(lease);
        this.#generator = this.#make(lease);
        this.#lease = lease;
        return;
      } catch (error) {
        if ((error as { code?: unknown })?.code === 'INVALID_OPTION') throw error;
        if (!this.#closed) this.#log.error('no lease yet', { namespace, error });
        this.#failure = error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE).unref());
      }
    }
  }

  #logEvents(lease: Lease): void {
    const { namespace } = this.#options;
    for (const event of ['empty-namespace', 'reacquired'] as const)
      lease.on(event, () => this.#log.info(`lease ${event}`, { namespace, node: lease.id }));
    lease.on('renewal-failed', (error) =>
      this.#log.error('lease not renewed', { namespace, node: lease.id, error }),
    );
    lease.on('fenced', () => this.#log.error('lease fenced', { namespace, node: lease.id }));
  }

  /** Ends minting and releases the node id. A lease that is still being acquired is not waited for; it expires by itself. */
  async release(): Promise<void> {
    this.#closed = true;
    await this.#lease?.release();
  }
}
