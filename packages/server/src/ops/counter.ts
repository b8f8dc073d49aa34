/** The most series of one metric. Further combinations of labels are summed up under the label `other`. */
const MAX_SERIES = 1000;

export type Labels = Readonly<Record<string, string | number>>;

/** The count for one combination of labels. */
export interface Series {
  readonly values: readonly string[];
  count: number;
}

/** Counts that only grow, one for each combination of labels. */
export class Counter {
  readonly #names: readonly string[];
  readonly #series = new Map<string, Series>();

  constructor(...names: string[]) {
    this.#names = names;
  }

  /** The series for these label values. Hot paths keep it and add to `count` directly. */
  of(...values: string[]): Series {
    const known = this.#series.get(values.join('\n'));
    if (known !== undefined) return known;
    const kept = this.#series.size < MAX_SERIES ? values : values.map(() => 'other');
    const key = kept.join('\n');
    const series = this.#series.get(key) ?? { values: kept, count: 0 };
    this.#series.set(key, series);
    return series;
  }

  add(count: number, ...values: string[]): void {
    this.of(...values).count += count;
  }

  *samples(): Iterable<[Labels, number]> {
    for (const { values, count } of this.#series.values())
      yield [Object.fromEntries(this.#names.map((name, i) => [name, values[i] ?? ''])), count];
  }
}
