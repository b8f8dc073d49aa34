import { type LocalityGenerator, type LocalityMode, layouts, type Store, type Uuid7Generator } from 'idsmith';
import type { Ids } from 'idsmith/connect';
import { SETTINGS, type Settings } from '../config/settings.js';
import type { LabelledCount } from '../ops/counter.js';
import type { Refusal } from '../ops/health.js';
import type { Log } from '../ops/log.js';
import type { LeaseGauge, Metrics } from '../ops/metrics.js';
import { FlakeNodes } from './flake-nodes.js';
import { flakesJson, uuidsJson } from './id-json.js';
import { LeasedGenerator, type LeaseHolder } from './leased-generator.js';
import { toldBy } from './waiting-for-node.js';

/** The longest wait for a lease, ms. An empty store that can forget takes longer. */
const LEASE_WAIT = 3000;

/** Mints flakes and UUIDs, as JSON text. Each generator has a lease, so that several servers can share a store. */
export class LeasedMinter {
  readonly #flakes: FlakeNodes;
  /** One generator per mode: changing the mode of a generator would restart its counter. */
  readonly #locality: Readonly<Record<LocalityMode, LeasedGenerator<LocalityGenerator>>>;
  readonly #uuid7: LeasedGenerator<Uuid7Generator>;
  readonly #minted: Readonly<Record<'flake' | 'locality' | 'uuid7', LabelledCount>>;

  constructor(ids: Ids, settings: Settings, metrics: Metrics, log: Log) {
    this.#minted = {
      flake: metrics.minted.of('flake', ''),
      locality: metrics.minted.of('locality', ''),
      uuid7: metrics.minted.of('uuid7', ''),
    };
    const ttl = ttlFor(ids.store, settings);
    const leased = <T extends LeaseHolder>(
      family: string,
      label: string,
      namespace: string,
      open: (options: { ttl: number }) => Promise<T>,
    ) => {
      const kind = { family, label, namespace, open: (options: object) => open({ ...options, ttl }) };
      return new LeasedGenerator<T>(kind, ids, log);
    };
    const layout = layouts[settings.layout];
    const namespace = settings.namespace || settings.layout;
    const [first = 0, last = layout.nodes - 1] = settings.nodes ? settings.nodes.split('-').map(Number) : [];
    const nodes = [first, last] as const;
    const flakes = (number: number) =>
      leased('flake', number === 1 ? 'flake' : `flake ${number}`, namespace, (options) =>
        ids.flakes({ ...options, namespace, layout, nodes }),
      );
    this.#flakes = new FlakeNodes(layout, flakes, log);
    const locality = (mode: LocalityMode) =>
      leased('locality', `locality ${mode}`, 'locality', (options) =>
        ids.locality({ ...options, mode, reseed: mode === 'sequential' }),
      );
    this.#locality = { variable: locality('variable'), sequential: locality('sequential') };
    this.#uuid7 = leased('uuid7', 'uuid7', 'uuid7', (options) =>
      ids.uuid7({ ...options, namespace: 'uuid7' }),
    );
    metrics.leases = () => this.leases;
  }

  /**
   * Acquires the leases that every server needs. After a short wait, the attempts go on in the background.
   *
   * @throws InvalidOptionError if a setting makes a lease impossible
   */
  async start(): Promise<void> {
    await waitBriefly(Promise.all([this.#flakes.first.start(), this.#locality.variable.start()]));
  }

  /** The leases of the generators in use. */
  get leases() {
    return this.#all.filter((each) => each.isStarted).map((each) => each.gauge);
  }

  /** The families that cannot mint at present, and the reasons. */
  get refusals(): Refusal[] {
    return [this.#flakes.first, ...Object.values(this.#locality), this.#uuid7]
      .filter((each) => each.isStarted)
      .map((each) => ({ family: each.label, error: each.refusal }))
      .filter(({ error }) => error !== undefined)
      .map(({ family, error }) => {
        const { words: reason, retryAfter } = toldBy(error) ?? {};
        return { family, error, ...(reason !== undefined && { reason, retryAfter: retryAfter ?? 1 }) };
      });
  }

  /** @throws LeaseFencedError, LeasesExhaustedError or ClockError if the generator cannot mint */
  flakes(count: number): string {
    const text = this.#flakes.use(count, (generator) =>
      count === 1
        ? `{"ids":["${generator.nextString()}"]}`
        : flakesJson(count, (target) => generator.fill(target)),
    );
    this.#minted.flake.count += count;
    return text;
  }

  /** @throws LeaseFencedError, LeasesExhaustedError or ClockError if the generator cannot mint */
  locality(count: number, mode: LocalityMode): string | Promise<string> {
    return this.#mint('locality', this.#locality[mode], count, (generator) =>
      count === 1 ? `{"ids":["${generator.next()}"]}` : uuidsJson(count, (target) => generator.fill(target)),
    );
  }

  /** @throws LeaseFencedError, LeasesExhaustedError or ClockError if the generator cannot mint */
  uuid7(count: number): string | Promise<string> {
    return this.#mint('uuid7', this.#uuid7, count, (generator) =>
      count === 1 ? `{"ids":["${generator.next()}"]}` : `{"ids":["${generator.batch(count).join('","')}"]}`,
    );
  }

  /** Mints with a generator. The first request for one of its ids waits for its lease. */
  #mint<T extends LeaseHolder>(
    family: 'locality' | 'uuid7',
    leased: LeasedGenerator<T>,
    count: number,
    mint: (generator: T) => string,
  ): string | Promise<string> {
    if (!leased.isStarted)
      return waitBriefly(leased.start()).then(() => this.#mint(family, leased, count, mint));
    const text = leased.use(mint);
    this.#minted[family].count += count;
    return text;
  }

  /** Ends minting and releases the node ids. The list has each lease and the promise of its release. */
  releaseAll(): { lease: LeaseGauge & { node: number | null }; released: Promise<void> }[] {
    this.#flakes.close();
    return this.#all
      .filter((each) => each.isStarted)
      .map((each) => ({ lease: each.gauge, released: each.release() }));
  }

  get #all() {
    return [...this.#flakes.all, this.#locality.variable, this.#locality.sequential, this.#uuid7];
  }
}

/** Waits for leases for a short time. The attempts to acquire them go on in the background. */
async function waitBriefly(leases: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, LEASE_WAIT);
  });
  await Promise.race([leases, timeout]).finally(() => clearTimeout(timer));
  leases.catch(() => {});
}

/** The ttl of the settings. The default ttl is lowered to the longest ttl that the store allows. */
function ttlFor(store: Store, { ttl }: Settings): number {
  const isDefault = ttl === SETTINGS.ttl.fallback;
  return isDefault && store.durable === false ? Math.min(ttl, store.maxTtl ?? ttl) : ttl;
}
