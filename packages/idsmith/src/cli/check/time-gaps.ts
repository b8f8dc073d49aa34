/** The most intervals that are kept. */
const MOST = 100_000;

/** A time without ids, in Unix milliseconds. */
export interface TimeGap {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

/**
 * The longest times without ids, of times in any order and in little memory. Time is cut into intervals, and each keeps its first
 * and last time. When there are too many, two become one. Gaps longer than an interval are exact, shorter ones are not seen.
 */
export class TimeGaps {
  #intervals = new Map<number, { first: number; last: number }>();
  #width = 1;

  add(timestamp: number): void {
    const index = Math.floor(timestamp / this.#width);
    const interval = this.#intervals.get(index);
    if (interval === undefined) {
      this.#intervals.set(index, { first: timestamp, last: timestamp });
      while (this.#intervals.size > MOST) this.#widen();
    } else if (timestamp < interval.first) interval.first = timestamp;
    else if (timestamp > interval.last) interval.last = timestamp;
  }

  /** The first and the last time; `undefined` if there is none. */
  get range(): { first: number; last: number } | undefined {
    let range: { first: number; last: number } | undefined;
    for (const { first, last } of this.#intervals.values())
      range = {
        first: Math.min(first, range?.first ?? first),
        last: Math.max(last, range?.last ?? last),
      };
    return range;
  }

  /** The longest gaps, longest first. */
  longest(count: number): TimeGap[] {
    const sorted = [...this.#intervals.values()].sort((a, b) => a.first - b.first);
    const gaps = sorted.slice(1).map(({ first }, i) => {
      const from = (sorted[i] as { last: number }).last;
      return { from, to: first, ms: first - from };
    });
    return gaps
      .filter(({ ms }) => ms > 1)
      .sort((a, b) => b.ms - a.ms)
      .slice(0, count);
  }

  #widen(): void {
    this.#width *= 2;
    const before = this.#intervals;
    this.#intervals = new Map();
    for (const { first, last } of before.values()) {
      this.add(first);
      this.add(last);
    }
  }
}
