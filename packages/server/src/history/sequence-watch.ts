import type { SequenceInfo, Store } from 'idsmith';
import { supplyOf } from 'idsmith/internal';
import type { HandedOut } from '../mint/sequence-pool.js';
import { inTime, PATIENCE } from '../ops/in-time.js';
import { type Forecast, forecastOf } from './forecast.js';
import { RegularLook } from './regular-look.js';
import { Rings, type SavedRings } from './rings.js';

/** The most sequences with a history. Those that nobody has used for longest make room. */
const MAX_WATCHED = 500;

/** The shortest pause between two listings, ms. */
const PAUSE = 15_000;

/** The time for which a listing serves all readers, ms. A listing that takes long serves for longer, so that reading is no load. */
const LIFETIME = 1000;
const LIFETIME_FACTOR = 20;

/** The most answers that are kept of one listing. */
const MAX_KEPT = 100;

/** The sequences of the store at one time, and the answers that were made of them. */
export class Listing {
  readonly all: readonly SequenceInfo[];
  readonly #kept = new Map<string, unknown>();

  constructor(all: readonly SequenceInfo[]) {
    this.all = all;
  }

  /** The answer with this key: made once, and then the same for all readers of the listing. */
  once<T>(key: string, make: () => T): T {
    if (this.#kept.has(key)) return this.#kept.get(key) as T;
    const made = make();
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(key, made);
    return made;
  }
}

interface Use {
  readonly since: number;
  /** Ids taken from the store by anybody. */
  readonly taken: Rings;
  /** Ids handed out by this server. */
  readonly handedOut: Rings;
  remaining: bigint | undefined;
  /** The time of the last look, Unix ms. */
  seenAt: number;
  count: number;
}

/** The use of a sequence as it is in a file. */
interface SavedUse {
  readonly name: string;
  readonly since: number;
  readonly taken: SavedRings;
  readonly handedOut: SavedRings;
  /** A bigint as text. */
  readonly remaining: string | null;
  readonly seenAt: number;
}

/** The sequences of the store, listed now and then: how fast each is used, and when it runs out. */
export class SequenceWatch {
  readonly #store: Store;
  readonly #handedOut: HandedOut;
  readonly #uses = new Map<string, Use>();
  #listing = new Listing([]);
  /** The time until which the listing serves, by `performance.now()`. */
  #freshUntil = Number.NEGATIVE_INFINITY;
  #underWay: Promise<void> | undefined;
  readonly #looking = new RegularLook(() => this.#list(), PAUSE);

  constructor(store: Store, handedOut: HandedOut) {
    this.#store = store;
    this.#handedOut = handedOut;
  }

  start(): void {
    void this.#looking.start();
  }

  close(): void {
    this.#looking.close();
  }

  /** Notes a change that this server has made, so that the next reader sees it. */
  changed(): void {
    this.#freshUntil = Number.NEGATIVE_INFINITY;
    // A listing that has begun before the change may not have it.
    this.#underWay = undefined;
  }

  /** Takes in a listing. */
  saw(all: readonly SequenceInfo[]): void {
    const now = Date.now();
    this.#listing = new Listing(all);
    for (const info of all) this.#note(info, now);
    if (this.#uses.size > all.length) {
      const names = new Set(all.map(({ name }) => name));
      for (const name of this.#uses.keys()) if (!names.has(name)) this.#uses.delete(name);
    }
  }

  /** The sequences of the store, as they were within the last second or so: all readers share a listing. */
  async listing(): Promise<Listing> {
    if (performance.now() >= this.#freshUntil) await this.#list();
    return this.#listing;
  }

  /** The same for metrics: an earlier listing if the store does not answer in time. */
  async listingInTime(): Promise<Listing> {
    return (await inTime(this.listing(), PATIENCE).catch(() => undefined)) ?? this.#listing;
  }

  /** The forecast of a sequence; `undefined` for one without a history. */
  forecastOf(info: SequenceInfo): Forecast | undefined {
    const use = this.#uses.get(info.name);
    if (use === undefined && !info.exhausted) return undefined;
    const watched = use === undefined ? 0 : (Date.now() - use.since) / 1000;
    return forecastOf(supplyOf(info)?.remaining, use?.taken.sums ?? NOTHING, watched);
  }

  /** The history of a sequence. */
  historyOf(name: string): { taken: Rings; handedOut: Rings; since: number } | undefined {
    return this.#uses.get(name);
  }

  save(): SavedUse[] {
    return [...this.#uses].map(([name, { since, taken, handedOut, remaining, seenAt }]) => ({
      name,
      since,
      taken: taken.save(),
      handedOut: handedOut.save(),
      remaining: remaining === undefined ? null : String(remaining),
      seenAt,
    }));
  }

  /**
   * Takes over what another run has saved. The first listing adds what was taken since.
   *
   * @throws TypeError unless `saved` comes from {@link save}
   */
  load(saved: readonly SavedUse[]): void {
    for (const { name, since, remaining, seenAt, ...rings } of saved.slice(0, MAX_WATCHED)) {
      const [taken, handedOut] = [new Rings('sum'), new Rings('sum')];
      taken.load(rings.taken);
      handedOut.load(rings.handedOut);
      const left = remaining === null ? undefined : BigInt(remaining);
      const count = this.#handedOut.read(name);
      this.#uses.set(name, { since, taken, handedOut, remaining: left, seenAt, count });
    }
  }

  /** Adds the ids that this server has handed out since the last tick. */
  tick(now: number): void {
    for (const [name, use] of this.#uses) {
      const count = this.#handedOut.read(name);
      use.handedOut.add(Math.max(0, count - use.count), now);
      use.count = count;
    }
  }

  #list(): Promise<void> {
    if (this.#underWay !== undefined) return this.#underWay;
    const begun = performance.now();
    const listing = this.#store
      .listSequences()
      .then((all) => {
        this.saw(all);
        if (this.#underWay !== listing) return;
        const now = performance.now();
        this.#freshUntil = now + Math.max(LIFETIME, LIFETIME_FACTOR * (now - begun));
      })
      .finally(() => {
        if (this.#underWay === listing) this.#underWay = undefined;
      });
    this.#underWay = listing;
    return listing;
  }

  #note(info: SequenceInfo, now: number): void {
    const { remaining } = supplyOf(info) ?? {};
    const known = this.#uses.get(info.name);
    if (known === undefined) {
      if (this.#uses.size >= MAX_WATCHED && !this.#makeRoom(now)) return;
      const count = this.#handedOut.read(info.name);
      const use = {
        since: now,
        taken: new Rings('sum'),
        handedOut: new Rings('sum'),
        remaining,
        seenAt: now,
        count,
      };
      this.#uses.set(info.name, use);
      return;
    }
    // A limit that was raised is no use. Neither are ids that came back.
    const taken = known.remaining !== undefined && remaining !== undefined ? known.remaining - remaining : 0n;
    known.taken.addOver(taken > 0n ? Number(taken) : 0, known.seenAt, now);
    known.remaining = remaining;
    known.seenAt = now;
  }

  /** Forgets the sequence that has been unused for longest, for at least five minutes. */
  #makeRoom(now: number): boolean {
    let idle: [string, number] | undefined;
    for (const [name, { taken, handedOut, since }] of this.#uses) {
      const active = Math.max(taken.activeAt, handedOut.activeAt, since);
      if (idle === undefined || active < idle[1]) idle = [name, active];
    }
    return idle !== undefined && now - idle[1] > 300_000 && this.#uses.delete(idle[0]);
  }
}

const NOTHING = { hour: 0, day: 0 };
