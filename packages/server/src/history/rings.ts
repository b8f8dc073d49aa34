/** A row of equal slots of time, the latest of which are kept. */
class Ring {
  /** The length of a slot, seconds. */
  readonly step: number;
  readonly #values: Float32Array;
  /** The number of the newest slot: its beginning in seconds, divided by the step. */
  #newest = -1;
  /** The number of slots that were filled. */
  #filled = 0;

  constructor(step: number, slots: number) {
    this.step = step;
    this.#values = new Float32Array(slots).fill(Number.NaN);
  }

  add(value: number, now: number, merge: (before: number, value: number) => number): void {
    const slot = Math.floor(now / 1000 / this.step);
    const { length } = this.#values;
    if (this.#newest < 0) this.#newest = slot - 1;
    // A clock that went back adds to the newest slot.
    for (; this.#newest < slot; this.#newest++) {
      // A process that was stopped for long has no values of that time, and needs no turn for each slot.
      if (slot - this.#newest > length) this.#newest = slot - length;
      this.#values[(this.#newest + 1) % length] = Number.NaN;
      this.#filled = Math.min(length, this.#filled + 1);
    }
    const at = this.#newest % length;
    const before = this.#values[at] as number;
    this.#values[at] = Number.isNaN(before) ? value : merge(before, value);
  }

  /** Everything, for {@link load}. */
  save(): SavedRing {
    const { buffer } = this.#values;
    return { newest: this.#newest, filled: this.#filled, values: Buffer.from(buffer).toString('base64') };
  }

  /** @throws TypeError unless `saved` is of a ring of this length */
  load({ newest, filled, values }: SavedRing): void {
    const bytes = Buffer.from(values, 'base64');
    const { length } = this.#values;
    const isRight =
      Number.isSafeInteger(newest) && Number.isInteger(filled) && filled >= 0 && filled <= length;
    if (!isRight || bytes.length !== 4 * length) throw new TypeError('a ring of another length');
    new Uint8Array(this.#values.buffer).set(bytes);
    this.#newest = newest;
    this.#filled = filled;
  }

  /** The sum of the values. Much cheaper than the points. */
  sum(): number {
    let sum = 0;
    for (const value of this.#values) if (!Number.isNaN(value)) sum += value;
    return sum;
  }

  /** The values from the oldest to the newest; `null` where there is none. */
  points(): { end: number; step: number; values: (number | null)[] } {
    const { length } = this.#values;
    const values = Array.from({ length: this.#filled }, (_, i) => {
      const value = this.#values[(this.#newest - this.#filled + 1 + i + length) % length] as number;
      return Number.isNaN(value) ? null : Number(value.toPrecision(5));
    });
    return { end: (this.#newest + 1) * this.step, step: this.step, values };
  }
}

interface SavedRing {
  readonly newest: number;
  readonly filled: number;
  /** 32-bit floats as base64: a JSON of numbers would be ten times as long, and would hold up the server while it is made. */
  readonly values: string;
}

/** {@link Rings} as they are in a file. */
export interface SavedRings {
  readonly activeAt: number;
  readonly hour: SavedRing;
  readonly day: SavedRing;
}

/** Points of a history: `values` end at `end` (Unix seconds) and are `step` seconds apart. */
export type Points = ReturnType<Ring['points']>;

/** What came about in the last hour, and in the last day. */
export interface Sums {
  readonly hour: number;
  readonly day: number;
}

/** How values of the same slot become one. */
type Merge = 'sum' | 'highest';

const MERGES: Readonly<Record<Merge, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  highest: (a, b) => Math.max(a, b),
};

/** A quantity over time: an hour in slots of 5 seconds and a day in slots of 5 minutes. Takes 4 kB, always. */
export class Rings {
  readonly #hour = new Ring(5, 720);
  readonly #day = new Ring(300, 288);
  readonly #merge: Merge;
  /** The time of the last value other than 0, Unix ms. */
  activeAt = 0;

  constructor(merge: Merge) {
    this.#merge = merge;
  }

  add(value: number, now: number): void {
    if (value !== 0) this.activeAt = now;
    this.#hour.add(value, now, MERGES[this.#merge]);
    this.#day.add(value, now, MERGES[this.#merge]);
  }

  /** Adds a value that came about in the time from `from` to `now`, which may be several slots. */
  addOver(value: number, from: number, now: number): void {
    // Two parts in each slot of five seconds, so that none is left out.
    const parts = Math.max(1, Math.min(1440, Math.ceil((now - from) / 2500)));
    for (let i = 1; i <= parts; i++) this.add(value / parts, from + ((now - from) * i) / parts);
  }

  save(): SavedRings {
    return { activeAt: this.activeAt, hour: this.#hour.save(), day: this.#day.save() };
  }

  /** @throws TypeError unless `saved` comes from {@link save} */
  load({ activeAt, hour, day }: SavedRings): void {
    this.activeAt = Number(activeAt);
    this.#hour.load(hour);
    this.#day.load(day);
  }

  /** The sums of the last hour and of the last day. */
  get sums(): Sums {
    return { hour: this.#hour.sum(), day: this.#day.sum() };
  }

  get hour(): Points {
    return this.#hour.points();
  }

  get day(): Points {
    return this.#day.points();
  }
}
