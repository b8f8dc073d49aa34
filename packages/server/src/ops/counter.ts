/** The most combinations of labels of one metric. Further ones are summed up under the label `other`. */
const MAX_COUNTS = 1000;

export type Labels = Readonly<Record<string, string | number>>;

/** The count for one combination of labels. */
export interface LabelledCount {
  readonly values: readonly string[];
  count: number;
}

/** Counts that only grow, one for each combination of labels. */
export class Counter {
  readonly #names: readonly string[];
  readonly #counts = new Map<string, LabelledCount>();

  constructor(...names: string[]) {
    this.#names = names;
  }

  /** The count for these label values. Hot paths keep it and add to `count` directly. */
  of(...values: string[]): LabelledCount {
    const known = this.#counts.get(values.join('\n'));
    if (known !== undefined) return known;
    const kept = this.#counts.size < MAX_COUNTS ? values : values.map(() => 'other');
    const key = kept.join('\n');
    const fresh = this.#counts.get(key) ?? { values: kept, count: 0 };
    this.#counts.set(key, fresh);
    return fresh;
  }

  add(count: number, ...values: string[]): void {
    this.of(...values).count += count;
  }

  *samples(): Iterable<[Labels, number]> {
    for (const { values, count } of this.#counts.values())
      yield [Object.fromEntries(this.#names.map((name, i) => [name, values[i] ?? ''])), count];
  }
}
