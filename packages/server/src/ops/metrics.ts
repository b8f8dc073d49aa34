import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';

/** Upper bounds of the store's latencies, seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** More series of one metric than this are summed up in one that is called `other`. */
const MAX_SERIES = 1000;

type Labels = Readonly<Record<string, string | number>>;

/** One number that only grows. */
export interface Series {
  readonly values: readonly string[];
  count: number;
}

/** Numbers that only grow, one for each combination of labels. */
export class Counter {
  readonly #names: readonly string[];
  readonly #series = new Map<string, Series>();

  constructor(...names: string[]) {
    this.#names = names;
  }

  /** The number for these values of the labels, to be added to by those who are in a hurry. */
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

/** How long operations took. */
class Durations {
  readonly counts = new Float64Array(BUCKETS.length + 1);
  sum = 0;

  add(seconds: number): void {
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    this.counts[bucket < 0 ? BUCKETS.length : bucket]! += 1;
    this.sum += seconds;
  }
}

/** The state of a lease, as it is to be seen from outside. */
export interface LeaseGauge {
  readonly family: string;
  readonly namespace: string;
  readonly state: string;
  /** Seconds until no more ids may be made, unless the lease is renewed. */
  readonly left: number;
}

/** What is counted and measured, and its form for Prometheus. */
export class Metrics {
  readonly minted = new Counter('family', 'sequence');
  readonly blockFetches = new Counter('sequence');
  readonly requests = new Counter('method', 'path', 'status');
  readonly problems = new Counter('code');
  readonly repeats = new Counter('outcome');
  readonly undelivered = new Counter('path');
  readonly givenUp = new Counter();
  readonly storeErrors = new Counter('operation');
  readonly #store = new Map<string, Durations>();
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: 10 });
  /** Asked whenever metrics are read. */
  leases: () => Iterable<LeaseGauge> = () => [];
  inFlight: () => number = () => 0;

  constructor() {
    this.#loop.enable();
  }

  /** An operation of the store has taken so long. */
  stored(operation: string, seconds: number): void {
    const durations = this.#store.get(operation) ?? new Durations();
    this.#store.set(operation, durations);
    durations.add(seconds);
  }

  close(): void {
    this.#loop.disable();
  }

  /** All of it, in the text format of Prometheus. */
  text(): string {
    const lines = [
      ...counter('idsmith_ids_minted_total', 'Ids that were minted.', this.minted),
      ...counter('idsmith_block_fetches_total', 'Runs of blocks taken from the store.', this.blockFetches),
      ...counter('idsmith_requests_total', 'Requests answered.', this.requests),
      ...counter('idsmith_problems_total', 'Requests answered with a problem.', this.problems),
      ...counter(
        'idsmith_repeats_total',
        'Requests that came again: answered from memory (replayed), or anew because the first answer is not known here.',
        this.repeats,
      ),
      ...counter(
        'idsmith_answers_undelivered_total',
        'Answers to requests with an Idempotency-Key whose connection ended too soon.',
        this.undelivered,
      ),
      ...counter(
        'idsmith_blocks_given_up_total',
        'Runs of blocks in such answers that nobody has asked for again. They are never given to others.',
        this.givenUp,
      ),
      ...counter('idsmith_store_errors_total', 'Operations of the store that failed.', this.storeErrors),
      ...this.#histogram(),
      ...this.#gauges(),
    ];
    return `${lines.join('\n')}\n`;
  }

  *#histogram(): Iterable<string> {
    const name = 'idsmith_store_duration_seconds';
    yield* head(name, 'histogram', 'How long operations of the store took.');
    for (const [operation, { counts, sum }] of this.#store) {
      let total = 0;
      for (const [i, count] of counts.entries()) {
        total += count;
        yield line(`${name}_bucket`, { operation, le: BUCKETS[i] ?? '+Inf' }, total);
      }
      yield line(`${name}_sum`, { operation }, sum);
      yield line(`${name}_count`, { operation }, total);
    }
  }

  *#gauges(): Iterable<string> {
    const leases = [...this.leases()];
    yield* head('idsmith_lease_active', 'gauge', 'Whether ids may be made with the lease: 1 or 0.');
    for (const { family, namespace, state } of leases)
      yield line('idsmith_lease_active', { family, namespace }, state === 'active' ? 1 : 0);
    yield* head(
      'idsmith_lease_fence_seconds',
      'gauge',
      'Seconds until the fence, unless the lease is renewed.',
    );
    for (const { family, namespace, left } of leases)
      yield line('idsmith_lease_fence_seconds', { family, namespace }, left);
    yield* head('idsmith_requests_in_flight', 'gauge', 'Requests that wait for the store.');
    yield line('idsmith_requests_in_flight', {}, this.inFlight());
    const delay = 'idsmith_event_loop_delay_seconds';
    yield* head(delay, 'gauge', 'By how much the event loop was late since this was last read.');
    const seconds = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0);
    for (const share of [50, 99])
      yield line(delay, { quantile: share / 100 }, seconds(this.#loop.percentile(share)));
    yield line(delay, { quantile: 1 }, seconds(this.#loop.max));
    this.#loop.reset();
    yield* head('process_resident_memory_bytes', 'gauge', 'Resident memory.');
    yield line('process_resident_memory_bytes', {}, process.memoryUsage.rss());
  }
}

function* counter(name: string, help: string, counted: Counter): Iterable<string> {
  yield* head(name, 'counter', help);
  for (const [labels, count] of counted.samples()) yield line(name, labels, count);
}

function* head(name: string, type: string, help: string): Iterable<string> {
  yield `# HELP ${name} ${help}`;
  yield `# TYPE ${name} ${type}`;
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text))}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`;
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
