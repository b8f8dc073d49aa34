import { hostname } from 'node:os';
import process from 'node:process';
import { FlakeGenerator, LocalityGenerator, type LocalityMode, layouts, type Store } from 'idsmith';
import { SETTINGS, type Settings } from '../config/settings.js';
import type { Log } from '../ops/log.js';
import type { Metrics, Series } from '../ops/metrics.js';
import { Leased } from './leased-generator.js';

/** How many node ids there are for locality UUIDs, and where their leases are. */
const LOCALITY = { namespace: 'locality', size: 65_536 };

/** How long a node id is waited for, ms. A store that can forget takes longer when it is empty. */
const PATIENCE = 3000;

/** Mints flakes and locality UUIDs, as JSON. Each generator has a lease, so that several servers share a store. */
export class Mint {
  readonly #flakes: Leased<FlakeGenerator>;
  /** One a mode: a counter that changes its mode starts anew each time. */
  readonly #locality: Readonly<Record<LocalityMode, Leased<LocalityGenerator>>>;
  readonly #minted: Readonly<Record<'flake' | 'locality', Series>>;

  constructor(store: Store, settings: Settings, metrics: Metrics, log: Log) {
    this.#minted = {
      flake: metrics.minted.of('flake', ''),
      locality: metrics.minted.of('locality', ''),
    };
    const common = { label: `${hostname()} ${process.pid}`.slice(0, 255), ttl: ttlFor(store, settings) };
    const layout = layouts[settings.layout];
    const namespace = settings.namespace || settings.layout;
    this.#flakes = new Leased(
      'flake',
      store,
      { ...common, namespace, size: layout.max('node') + 1 },
      (lease) => new FlakeGenerator({ layout, node: lease }),
      log,
    );
    const locality = (mode: LocalityMode) =>
      new Leased(
        `locality ${mode}`,
        store,
        { ...common, ...LOCALITY },
        (lease) => new LocalityGenerator({ mode, node: lease, reseed: mode === 'sequential' }),
        log,
      );
    this.#locality = { variable: locality('variable'), sequential: locality('sequential') };
    metrics.leases = () => this.leases;
  }

  /**
   * Acquires the leases that every server needs, or goes on doing so in the background.
   *
   * @throws InvalidOptionError when a setting keeps it from having any
   */
  async start(): Promise<void> {
    await soon(Promise.all([this.#flakes.start(), this.#locality.variable.start()]));
  }

  /** The leases that somebody has asked for. */
  get leases() {
    return this.#all.filter((each) => each.isStarted).map((each) => each.gauge);
  }

  /** The families of which no ids can be made at present. */
  get stalled(): string[] {
    return this.#all.filter((each) => each.isStarted && !each.isActive).map(({ family }) => family);
  }

  /** @throws LeaseFencedError, LeasesExhaustedError or ClockError when there is none to be had */
  flakes(count: number): string {
    const { generator } = this.#flakes;
    const text = count === 1 ? generator.nextString() : many(generator, count);
    this.#minted.flake.count += count;
    return `{"ids":["${text}"]}`;
  }

  /** @throws LeaseFencedError, LeasesExhaustedError or ClockError when there is none to be had */
  locality(count: number, mode: LocalityMode): string | Promise<string> {
    const leased = this.#locality[mode];
    if (!leased.isStarted) return soon(leased.start()).then(() => this.locality(count, mode));
    const { generator } = leased;
    const text = count === 1 ? generator.next() : generator.batch(count).join('","');
    this.#minted.locality.count += count;
    return `{"ids":["${text}"]}`;
  }

  /** Ends minting and gives the node ids back. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#all.map((each) => each.release()));
  }

  get #all() {
    return [this.#flakes, this.#locality.variable, this.#locality.sequential];
  }
}

function many(generator: FlakeGenerator, count: number): string {
  const ids = new BigUint64Array(count);
  generator.fill(ids);
  return ids.join('","');
}

/** Waits for leases, but not for long: they go on being acquired in the background. */
async function soon(leases: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, PATIENCE);
  });
  await Promise.race([leases, patience]).finally(() => clearTimeout(timer));
  leases.catch(() => {});
}

/** The ttl that was asked for; if none was, the usual one or the longest that the store allows. */
function ttlFor(store: Store, { ttl }: Settings): number {
  const isUsual = ttl === SETTINGS.ttl.fallback;
  return isUsual && store.durable === false ? Math.min(ttl, store.maxTtl ?? ttl) : ttl;
}
