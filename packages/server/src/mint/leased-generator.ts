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

/** The lease's timers are not what a server lives for: while it listens it lives, and when it has closed it ends. */
const timer: Timer = {
  after(ms, fn) {
    const handle = setTimeout(fn, ms).unref();
    return () => clearTimeout(handle);
  },
};

/** How long to wait before a node id is asked for again, ms. */
const PAUSE = 1000;

/**
 * A generator with a lease of its own. The lease is acquired in the background, and asked for again until there is one: a
 * store that can forget lets everybody wait for a minute, and all node ids may be held.
 */
export class Leased<T> {
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
   * @throws whatever the last attempt to get a lease failed with; LeasesExhaustedError while the first goes on
   */
  get generator(): T {
    if (this.#generator !== undefined) return this.#generator;
    throw (
      this.#failure ??
      new LeasesExhaustedError(
        `this server is waiting for a node id of namespace ${JSON.stringify(this.#options.namespace)}`,
      )
    );
  }

  /** Whether ids can be made. */
  get isActive(): boolean {
    return this.#lease?.state === 'active';
  }

  /** Whether somebody has asked for it. */
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
   * Begins to acquire the lease; resolves when it is there.
   *
   * @throws InvalidOptionError when there will never be one
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
        for (const event of ['empty-namespace', 'reacquired'] as const)
          lease.on(event, () => this.#log.info(`lease ${event}`, { namespace, node: lease.id }));
        lease.on('renewal-failed', (error) =>
          this.#log.error('lease not renewed', { namespace, node: lease.id, error }),
        );
        lease.on('fenced', () => this.#log.error('lease fenced', { namespace, node: lease.id }));
        this.#generator = this.#make(lease);
        this.#lease = lease;
        return;
      } catch (error) {
        if ((error as { code?: unknown })?.code === 'INVALID_OPTION') throw error;
        if (!this.#closed) this.#log.error('no lease yet', { namespace, error });
        this.#failure = error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE).unref());
      }
    }
  }

  /** Ends minting and lets others have the node id. One that is still being acquired runs out by itself. */
  async release(): Promise<void> {
    this.#closed = true;
    await this.#lease?.release();
  }
}
