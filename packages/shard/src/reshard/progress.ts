import { NOTE_PROGRESS } from '../redis/scripts.js';
import type { ReshardContext } from './context.js';
import { SkippedKeyCounter, type SortedKeys } from './key-placement.js';
import type { ReshardProgress } from './options.js';
import type { ReshardPair } from './plan-reshard.js';
import { STATE_KEY } from './redis-keys.js';

/** The time over which `rate` is measured, ms. */
const WINDOW = 3000;

/** Counts keys, and reports progress. */
export class ProgressTracker {
  readonly #context: ReshardContext;
  readonly #listeners: ((progress: ReshardProgress) => void)[] = [];
  readonly #started = performance.now();
  readonly #pairs = new Map<string, { keys: number; bytes: number }>();
  /** The number of moved keys at some recent times, for the rate. */
  #recent: [at: number, moved: number][] = [];
  #total = 0;
  #scanned = 0;
  /** The keys that were looked at and need no move. */
  #settled = 0;
  #moved = 0;
  #bytes = 0;
  #stayed = 0;
  readonly #skipped = new SkippedKeyCounter();
  #superseded = 0;

  constructor(context: ReshardContext, report: ((progress: ReshardProgress) => void) | undefined) {
    this.#context = context;
    if (report !== undefined) this.#listeners.push(report);
  }

  /** Tells one more listener of the progress after each batch. */
  tell(listener: (progress: ReshardProgress) => void): void {
    this.#listeners.push(listener);
  }

  /** Adds to the number of keys to look at. */
  expect(keys: number): void {
    this.#total += keys;
  }

  scanned({ staying, skipped, leavingCount }: SortedKeys): void {
    this.#scanned += staying + skipped.length + leavingCount;
    this.#settled += staying + skipped.length;
    this.#stayed += staying;
    this.#skipped.add(skipped);
  }

  moved(from: string, to: string, { keys, bytes, superseded }: MoveCounts): void {
    const name = `${from} ${to}`;
    const pair = this.#pairs.get(name) ?? { keys: 0, bytes: 0 };
    pair.keys += keys;
    pair.bytes += bytes;
    this.#pairs.set(name, pair);
    this.#moved += keys;
    this.#bytes += bytes;
    this.#superseded += superseded;
    if (this.#listeners.length === 0) return;
    const progress = this.#progress();
    for (const listener of this.#listeners) listener(progress);
  }

  /** The totals for the report. */
  totals() {
    return {
      pairs: this.#sorted(),
      moved: this.#moved,
      bytes: this.#bytes,
      stayed: this.#stayed,
      ...this.#skipped.totals(),
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
    // A scan may give a key twice, and applications write keys during the scan.
    const [total, scanned] = [Math.max(this.#total, this.#scanned), this.#scanned];
    // By what is done, not by what was looked at: a small node is scanned in one go, before its first key has moved.
    const done = Math.min(total, this.#settled + this.#moved);
    const left = done > 0 && seconds > 0 ? ((total - done) / done) * seconds : undefined;
    return { moved: this.#moved, bytes: this.#bytes, scanned, total, seconds, rate, left };
  }

  #seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  #sorted(): ReshardPair[] {
    const { from, to } = this.#context;
    return from.nodes.flatMap((source) =>
      to.nodes.flatMap((target) => {
        const pair = this.#pairs.get(`${source.address} ${target.address}`);
        return pair === undefined || pair.keys === 0 ? [] : [{ from: source.name, to: target.name, ...pair }];
      }),
    );
  }
}

type MoveCounts = { readonly keys: number; readonly bytes: number; readonly superseded: number };

/** The shortest time between two notes, ms. */
const INTERVAL = 1000;

/** Notes on all nodes how far a run is, so that whoever asks a node can tell. */
export class ProgressNotes {
  readonly #context: ReshardContext;
  readonly #round: number;
  #nextAt = 0;
  #isNoting = false;

  constructor(context: ReshardContext, round: number) {
    this.#context = context;
    this.#round = round;
  }

  /** Nobody waits for a note, and a note that fails stops nothing: the steps of the move meet the same node. */
  add(progress: ReshardProgress): void {
    const now = performance.now();
    if (this.#isNoting || now < this.#nextAt) return;
    this.#nextAt = now + INTERVAL;
    this.#isNoting = true;
    const { nodes, reshardId } = this.#context;
    const args = [reshardId, this.#round, JSON.stringify(progress)];
    void Promise.allSettled(
      nodes.map((node) => node.run('noting the progress', NOTE_PROGRESS, [STATE_KEY], args)),
    ).then(() => {
      this.#isNoting = false;
    });
  }
}
