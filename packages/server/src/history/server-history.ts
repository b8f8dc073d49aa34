import type { Metrics, Totals } from '../ops/metrics.js';
import { type Points, Rings, type SavedRings } from './rings.js';

/** The quantities of a server that are kept, and how values of one slot become one. */
const QUANTITIES = {
  flake: 'sum',
  locality: 'sum',
  uuid7: 'sum',
  key: 'sum',
  sequence: 'sum',
  requests: 'sum',
  refusals: 'sum',
  storeCalls: 'sum',
  storeErrors: 'sum',
  storeSeconds: 'highest',
  loopDelay: 'highest',
  memory: 'highest',
} as const;

type Quantity = keyof typeof QUANTITIES;

/** The pause between two samples, ms. */
const INTERVAL = 5000;

/** The history of a server: what it minted, answered and waited for, in the last hour and day. Its memory never grows. */
export class ServerHistory {
  readonly #metrics: Metrics;
  readonly #rings = Object.fromEntries(
    Object.entries(QUANTITIES).map(([name, merge]) => [name, new Rings(merge)]),
  ) as Record<Quantity, Rings>;
  /** The start of this server, Unix ms. */
  readonly started = Date.now();
  #since = this.started;
  readonly #onTick: (now: number) => void;
  #before: Totals;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param onTick is called with the time of each sample */
  constructor(metrics: Metrics, onTick: (now: number) => void) {
    this.#metrics = metrics;
    this.#onTick = onTick;
    this.#before = metrics.totals();
  }

  start(): void {
    this.#timer = setInterval(() => this.sample(Date.now()), INTERVAL).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Adds what has happened since the last sample. */
  sample(now: number): void {
    const totals = this.#metrics.totals();
    const before = this.#before;
    this.#before = totals;
    const since = (name: 'requests' | 'refusals' | 'storeCalls' | 'storeErrors' | 'storeSeconds') =>
      totals[name] - before[name];
    for (const family of ['flake', 'locality', 'uuid7', 'key', 'sequence'] as const)
      this.#rings[family].add((totals.minted[family] ?? 0) - (before.minted[family] ?? 0), now);
    for (const name of ['requests', 'refusals', 'storeCalls', 'storeErrors'] as const)
      this.#rings[name].add(since(name), now);
    // The mean of the calls of these seconds.
    if (since('storeCalls') > 0)
      this.#rings.storeSeconds.add(since('storeSeconds') / since('storeCalls'), now);
    this.#rings.loopDelay.add(totals.loopDelay, now);
    this.#rings.memory.add(totals.memory, now);
    this.#onTick(now);
  }

  /** The time of the first sample, Unix ms: before the start, if the history comes from a file. */
  get since(): number {
    return this.#since;
  }

  /** Everything up to now, for {@link load}. */
  save(): SavedServerHistory {
    this.sample(Date.now());
    const rings = Object.entries(this.#rings).map(([name, one]) => [name, one.save()]);
    return { since: this.#since, rings: Object.fromEntries(rings) };
  }

  /** @throws TypeError unless `saved` comes from {@link save} */
  load({ since, rings }: SavedServerHistory): void {
    this.#since = Math.min(this.started, Number(since));
    // A later version may have other quantities.
    for (const [name, one] of Object.entries(this.#rings)) if (rings[name]) one.load(rings[name]);
  }

  /** The last hour or day of every quantity. */
  read(span: 'hour' | 'day'): Record<Quantity, Points> {
    return Object.fromEntries(
      Object.entries(this.#rings).map(([name, rings]) => [name, rings[span]]),
    ) as Record<Quantity, Points>;
  }
}

interface SavedServerHistory {
  readonly since: number;
  readonly rings: Readonly<Record<string, SavedRings>>;
}
