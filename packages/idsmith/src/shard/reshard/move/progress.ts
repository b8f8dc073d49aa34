import type { Parties } from '../context.js';
import type { ReshardPair } from '../plan/plan-reshard.js';

/** Where a resharding is. */
export interface ReshardProgress {
  /** How many keys were moved so far. */
  readonly moved: number;
  readonly bytes: number;
  /** How many keys were looked at, of about how many. */
  readonly scanned: number;
  readonly total: number;
  readonly seconds: number;
  /** Keys moved a second, lately. */
  readonly rate: number;
  /** About how many seconds it takes still; `undefined` while that cannot be said. */
  readonly left: number | undefined;
}

/** How far back `rate` looks, ms. */
const WINDOW = 3000;

/** Counts what is done, and tells. */
export class Tally {
  readonly #parties: Parties;
  readonly #tell: ((progress: ReshardProgress) => void) | undefined;
  readonly #started = performance.now();
  readonly #pairs = new Map<string, { keys: number; bytes: number }>();
  /** What was moved at which time, for the rate. */
  #recent: [at: number, moved: number][] = [];
  #total = 0;
  #scanned = 0;
  #moved = 0;
  #bytes = 0;
  #stayed = 0;
  #skipped = 0;
  #superseded = 0;

  constructor(parties: Parties, tell: ((progress: ReshardProgress) => void) | undefined) {
    this.#parties = parties;
    this.#tell = tell;
  }

  expect(keys: number): void {
    this.#total += keys;
  }

  scanned(stayed: number, skipped: number, leaving: number): void {
    this.#scanned += stayed + skipped + leaving;
    this.#stayed += stayed;
    this.#skipped += skipped;
  }

  moved(from: string, to: string, { keys, bytes, superseded }: Moved): void {
    const name = `${from} ${to}`;
    const pair = this.#pairs.get(name) ?? { keys: 0, bytes: 0 };
    pair.keys += keys;
    pair.bytes += bytes;
    this.#pairs.set(name, pair);
    this.#moved += keys;
    this.#bytes += bytes;
    this.#superseded += superseded;
    this.#tell?.(this.#progress());
  }

  report() {
    return {
      pairs: this.#sorted(),
      moved: this.#moved,
      bytes: this.#bytes,
      stayed: this.#stayed,
      skipped: this.#skipped,
      superseded: this.#superseded,
      seconds: this.#seconds(),
    };
  }

  #progress(): ReshardProgress {
    const now = performance.now();
    this.#recent.push([now, this.#moved]);
    while (this.#recent.length > 2 && (this.#recent[0] as [number, number])[0] < now - WINDOW)
      this.#recent.shift();
    const [since, before] = this.#recent[0] as [number, number];
    const rate = now > since ? ((this.#moved - before) / (now - since)) * 1000 : 0;
    const seconds = this.#seconds();
    // A key may come twice in a scan, and keys are written all the while.
    const [total, scanned] = [Math.max(this.#total, this.#scanned), this.#scanned];
    const left = scanned > 0 && seconds > 0 ? ((total - scanned) / scanned) * seconds : undefined;
    return { moved: this.#moved, bytes: this.#bytes, scanned, total, seconds, rate, left };
  }

  #seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  #sorted(): ReshardPair[] {
    const { from, to } = this.#parties;
    return from.nodes.flatMap((source) =>
      to.nodes.flatMap((target) => {
        const pair = this.#pairs.get(`${source.name} ${target.name}`);
        return pair === undefined || pair.keys === 0 ? [] : [{ from: source.name, to: target.name, ...pair }];
      }),
    );
  }
}

type Moved = { readonly keys: number; readonly bytes: number; readonly superseded: number };
