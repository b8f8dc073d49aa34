import type { Lease, LeaseOptions, LeaseStore } from 'idsmith';
import type { Log } from '../ops/log.js';
import type { LeaseGauge } from '../ops/metrics.js';
import { NodeWaiting } from './node-waiting.js';
import { acquireServerLease, pauseInBackground } from './server-lease.js';

/** The pause before another attempt to acquire a lease, ms. */
const RETRY_PAUSE = 1000;

/** A generator that a server mints with. */
export interface GeneratorKind<T> {
  readonly family: string;
  make(lease: Lease): T;
  /** Mints an id that nobody gets, to see whether the generator can mint. */
  try(generator: T): void;
}

/** A generator and its lease. */
interface Held<T> {
  readonly lease: Lease;
  readonly generator: T;
}

/**
 * A generator with a lease of its own. The lease is acquired in the background, and attempts go on until one succeeds: a store that
 * can forget makes all servers wait for a minute, and all node ids may be held.
 *
 * A clock that was wrong for a while leaves a generator that refuses to mint until the clock has caught up, which can take hours.
 * Such a generator is replaced by a new one with another node id.
 */
export class LeasedGenerator<T> {
  readonly #kind: GeneratorKind<T>;
  readonly #store: LeaseStore;
  readonly #options: LeaseOptions;
  readonly #log: Log;
  #held: Held<T> | undefined;
  readonly #waiting: NodeWaiting;
  #started: Promise<void> | undefined;
  #replacing: Promise<void> | undefined;
  #closed = false;

  constructor(kind: GeneratorKind<T>, store: LeaseStore, options: LeaseOptions, log: Log) {
    this.#kind = kind;
    this.#store = store;
    this.#waiting = new NodeWaiting(store, options);
    this.#options = { ...options, onWait: (wait) => this.#waiting.begins(wait) };
    this.#log = log;
  }

  get family(): string {
    return this.#kind.family;
  }

  /** True once `start()` was called. */
  get isStarted(): boolean {
    return this.#started !== undefined;
  }

  get gauge(): LeaseGauge & { node: number | null; until: number } {
    const { lease } = this.#held ?? {};
    const until = lease?.until ?? 0;
    return {
      family: this.family,
      namespace: this.#options.namespace,
      state: lease?.state ?? 'waiting',
      node: lease?.id ?? null,
      until,
      left: Math.max(0, (until - Date.now()) / 1000),
    };
  }

  /**
   * Mints with the generator.
   *
   * @throws the error of the generator, or of the last attempt to acquire a lease; LeasesExhaustedError during the first attempt
   */
  use<Result>(mint: (generator: T) => Result): Result {
    const held = this.#held;
    if (held === undefined) throw this.#waiting.error;
    try {
      return mint(held.generator);
    } catch (error) {
      if (isStuck(error, held.lease)) this.#replacing ??= this.#replace(held);
      throw error;
    }
  }

  /** The reason why the generator cannot mint; `undefined` if it can. */
  get refusal(): unknown {
    try {
      this.use((generator) => this.#kind.try(generator));
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /**
   * Starts to acquire the lease. The promise resolves when the generator has its lease.
   *
   * @throws InvalidOptionError if no attempt can ever succeed
   */
  start(): Promise<void> {
    this.#started ??= this.#acquire(() => true);
    return this.#started;
  }

  /** Acquires the lease in one attempt. Throws as `acquireLease` does; then nothing is held. */
  async startOnce(): Promise<void> {
    const held = await this.#makeHeld();
    if (this.#closed) return await held.lease.release();
    this.#held = held;
    this.#started = Promise.resolve();
  }

  /** Acquires a lease for a new generator, as long as one is needed. */
  async #acquire(isNeeded: () => boolean): Promise<void> {
    const { namespace } = this.#options;
    while (!this.#closed && isNeeded()) {
      try {
        const held = await this.#makeHeld();
        if (this.#closed) return await held.lease.release();
        this.#held = held;
        return;
      } catch (error) {
        if ((error as { code?: unknown })?.code === 'INVALID_OPTION') throw error;
        if (!this.#closed) this.#log.error('no lease yet', { namespace, error });
        await this.#waiting.failed(error);
        await pauseInBackground(RETRY_PAUSE);
      }
    }
  }

  async #makeHeld(): Promise<Held<T>> {
    const lease = await acquireServerLease(this.#store, this.#options, this.#log);
    try {
      const generator = this.#kind.make(lease);
      // Only a generator that mints replaces one that does not.
      if (this.#held !== undefined) this.#kind.try(generator);
      return { lease, generator };
    } catch (error) {
      // If this fails, the lease expires.
      await lease.release().catch(() => {});
      throw error;
    }
  }

  /** Replaces a generator that is stuck. Gives up when the clock has caught up and the generator mints again. */
  async #replace(stuck: Held<T>): Promise<void> {
    const { namespace } = this.#options;
    const isStillStuck = () => {
      try {
        this.#kind.try(stuck.generator);
        return false;
      } catch {
        return true;
      }
    };
    try {
      await this.#acquire(isStillStuck);
    } catch (error) {
      this.#log.error('node not replaced', { namespace, node: stuck.lease.id, error });
    }
    this.#replacing = undefined;
    const { lease } = this.#held as Held<T>;
    if (lease === stuck.lease) return;
    this.#log.info('node replaced', { namespace, node: lease.id, before: stuck.lease.id });
    // A lease that cannot be released expires.
    await stuck.lease.release().catch((error: unknown) => {
      this.#log.error('lease not released', { namespace, node: stuck.lease.id, error });
    });
  }

  /** Ends minting and releases the node id. A lease that is still being acquired is not waited for; it expires by itself. */
  async release(): Promise<void> {
    this.#closed = true;
    await this.#held?.lease.release();
  }
}

/** True if only a later time of the clock, and no renewal, lets the generator mint again: its clock was ahead for a while. */
function isStuck(error: unknown, lease: Lease): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  if (code === 'CLOCK') return true;
  return code === 'LEASE_FENCED' && lease.state === 'active' && lease.until - Date.now() > RETRY_PAUSE;
}
