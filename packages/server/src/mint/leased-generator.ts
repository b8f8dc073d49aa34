import type { Lease, NodeWait } from 'idsmith';
import type { Ids } from 'idsmith/connect';
import { pause, systemTimer } from 'idsmith/internal';
import type { Log } from '../ops/log.js';
import type { LeaseGauge } from '../ops/metrics.js';
import { waitingForNode } from './waiting-for-node.js';

/** The pause before another attempt to acquire a lease, ms. */
const RETRY_PAUSE = 1000;

/** A generator on a lease. */
export interface LeaseHolder {
  readonly lease: Lease | undefined;
  next(): unknown;
  close(): Promise<void>;
}

/** The options that a server adds to those of a generator. */
interface LeaseCallbacks {
  readonly instance: string;
  readonly onWait: (wait: NodeWait) => void;
}

/** A kind of generators that a server mints with. */
export interface GeneratorKind<T> {
  /** The family of its ids, as all metrics name it. */
  readonly family: string;
  /** The name of the generator in metrics and log. No two generators of a server have the same. */
  readonly label: string;
  readonly namespace: string;
  /** Opens a generator by `ids`. */
  open(options: LeaseCallbacks): Promise<T>;
}

/**
 * A generator with a lease of its own. The lease is acquired in the background, and attempts go on until one succeeds: a store that
 * can forget makes all servers wait for a minute, and all node ids may be held.
 *
 * A clock that was wrong for a while leaves a generator that refuses to mint until the clock has caught up, which can take hours.
 * Such a generator is replaced by a new one with another node id.
 */
export class LeasedGenerator<T extends LeaseHolder> {
  readonly #kind: GeneratorKind<T>;
  readonly #ids: Ids;
  readonly #log: Log;
  #generator: T | undefined;
  /** The generators that were replaced. Each has an instance of its own. */
  #replaced = 0;
  #started: Promise<void> | undefined;
  #replacing: Promise<void> | undefined;
  #isClosed = false;

  constructor(kind: GeneratorKind<T>, ids: Ids, log: Log) {
    this.#kind = kind;
    this.#ids = ids;
    this.#log = log;
  }

  get label(): string {
    return this.#kind.label;
  }

  /** True once `start()` was called. */
  get isStarted(): boolean {
    return this.#started !== undefined;
  }

  get gauge(): LeaseGauge & { node: number | null; until: number } {
    const { lease } = this.#generator ?? {};
    const until = lease?.until ?? 0;
    return {
      family: this.#kind.family,
      generator: this.label,
      namespace: this.#kind.namespace,
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
    const generator = this.#generator;
    if (generator === undefined) throw this.#missing;
    try {
      return mint(generator);
    } catch (error) {
      if (isStuck(error, generator.lease)) this.#replacing ??= this.#replace(generator);
      throw error;
    }
  }

  /** The reason why the generator cannot mint; `undefined` if it can. */
  get refusal(): unknown {
    try {
      this.use((generator) => generator.next());
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
    this.#generator = await this.#open();
    this.#started = Promise.resolve();
  }

  /** Ends minting and releases the node id. */
  async release(): Promise<void> {
    this.#isClosed = true;
    await this.#generator?.close();
  }

  /** Acquires a lease for a new generator, as long as one is needed. */
  async #acquire(isNeeded: () => boolean): Promise<void> {
    const { namespace } = this.#kind;
    while (!this.#isClosed && isNeeded()) {
      try {
        this.#generator = await this.#open();
        return;
      } catch (error) {
        if (this.#isClosed) return;
        if ((error as { code?: unknown })?.code === 'INVALID_OPTION') throw error;
        this.#log.error('no lease yet', { namespace, error });
        await pause(systemTimer, RETRY_PAUSE, true);
      }
    }
  }

  async #open(): Promise<T> {
    const log = this.#log;
    // Logged as a warning, so that it appears at the level `error`, too: a server that waits mints nothing.
    const onWait = ({ namespace, ms, message }: NodeWait) =>
      log.warn('lease waiting', { namespace, seconds: Math.ceil(ms / 1000), message });
    const generator = await this.#kind.open({ instance: this.#instance, onWait });
    try {
      // Only a generator that mints replaces one that does not.
      if (this.#generator !== undefined) generator.next();
    } catch (error) {
      // If this fails, the lease expires.
      await generator.close().catch(() => {});
      throw error;
    }
    logEvents(generator.lease as Lease, log);
    return generator;
  }

  /** Replaces a generator that is stuck. Gives up when the clock has caught up and the generator mints again. */
  async #replace(stuck: T): Promise<void> {
    const { namespace } = this.#kind;
    const { id: before } = stuck.lease as Lease;
    this.#replaced++;
    try {
      await this.#acquire(() => !mints(stuck));
    } catch (error) {
      this.#log.error('node not replaced', { namespace, node: before, error });
    }
    this.#replacing = undefined;
    if (this.#generator === stuck) return;
    this.#log.info('node replaced', { namespace, node: this.#generator?.lease?.id, before });
    // A lease that cannot be released expires.
    await stuck.close().catch((error: unknown) => {
      this.#log.error('lease not released', { namespace, node: before, error });
    });
  }

  /** The name of the generator for `ids`. No two generators of a server have the same. */
  get #instance(): string {
    return `${this.label}/${this.#replaced}`;
  }

  /** The error for those who want ids before the lease is there. */
  get #missing(): unknown {
    const { missing } = this.#ids.status();
    return waitingForNode(
      this.#kind.namespace,
      missing.find(({ instance }) => instance === this.#instance),
    );
  }
}

function logEvents(lease: Lease, log: Log): void {
  const { namespace } = lease;
  for (const event of ['empty-namespace', 'reacquired'] as const)
    lease.on(event, () => log.info(`lease ${event}`, { namespace, node: lease.id }));
  lease.on('renewal-failed', (error) => log.error('lease not renewed', { namespace, node: lease.id, error }));
  lease.on('fenced', () => log.error('lease fenced', { namespace, node: lease.id }));
}

function mints(generator: LeaseHolder): boolean {
  try {
    generator.next();
    return true;
  } catch {
    return false;
  }
}

/** True if only a later time of the clock, and no renewal, lets the generator mint again: its clock was ahead for a while. */
function isStuck(error: unknown, lease: Lease | undefined): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  if (code === 'CLOCK') return true;
  return code === 'LEASE_FENCED' && lease?.state === 'active' && lease.until - Date.now() > RETRY_PAUSE;
}
