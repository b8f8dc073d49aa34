import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { Counter } from './counter.js';
import { counterLines, header, sample } from './prometheus.js';

/** Upper bounds of the store's latencies, seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A histogram of durations. */
class Durations {
  readonly counts = new Float64Array(BUCKETS.length + 1);
  sum = 0;

  add(seconds: number): void {
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    this.counts[bucket < 0 ? BUCKETS.length : bucket]! += 1;
    this.sum += seconds;
  }
}

/** The state of a lease, as metrics show it. */
export interface LeaseGauge {
  readonly family: string;
  readonly namespace: string;
  readonly state: string;
  /** Seconds until minting stops, unless the lease is renewed. */
  readonly left: number;
}

/** All counts and measurements of a server, and their text for Prometheus. */
export class Metrics {
  readonly minted = new Counter('family', 'sequence');
  readonly blockFetches = new Counter('sequence');
  readonly requests = new Counter('method', 'path', 'status');
  readonly problems = new Counter('code');
  readonly repeats = new Counter('outcome');
  readonly undelivered = new Counter('path');
  readonly givenUp = new Counter();
  readonly storeErrors = new Counter('operation');
  readonly #storeDurations = new Map<string, Durations>();
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: 10 });
  /** Called whenever metrics are read. */
  leases: () => Iterable<LeaseGauge> = () => [];
  inFlight: () => number = () => 0;

  constructor() {
    this.#loop.enable();
  }

  /** Records the duration of one operation of the store. */
  recordStoreDuration(operation: string, seconds: number): void {
    const durations = this.#storeDurations.get(operation) ?? new Durations();
    this.#storeDurations.set(operation, durations);
    durations.add(seconds);
  }

  close(): void {
    this.#loop.disable();
  }

  /** All metrics in the text format of Prometheus. */
  text(): string {
    const lines = [
      ...counterLines('idsmith_ids_minted_total', 'Ids minted.', this.minted),
      ...counterLines(
        'idsmith_block_fetches_total',
        'Runs of blocks taken from the store.',
        this.blockFetches,
      ),
      ...counterLines('idsmith_requests_total', 'Requests answered.', this.requests),
      ...counterLines('idsmith_problems_total', 'Requests answered with a problem.', this.problems),
      ...counterLines(
        'idsmith_repeats_total',
        'Repeated requests: replayed from memory, or answered as new ones because this server does not know the first answer.',
        this.repeats,
      ),
      ...counterLines(
        'idsmith_answers_undelivered_total',
        'Answers to requests with an Idempotency-Key whose connection ended too soon.',
        this.undelivered,
      ),
      ...counterLines(
        'idsmith_blocks_given_up_total',
        'Runs of blocks in undelivered answers that no client asked for again. Their ids are never handed out.',
        this.givenUp,
      ),
      ...counterLines('idsmith_store_errors_total', 'Operations of the store that failed.', this.storeErrors),
      ...this.#histogram(),
      ...this.#gauges(),
    ];
    return `${lines.join('\n')}\n`;
  }

  *#histogram(): Iterable<string> {
    const name = 'idsmith_store_duration_seconds';
    yield* header(name, 'histogram', 'Duration of operations of the store.');
    for (const [operation, { counts, sum }] of this.#storeDurations) {
      let total = 0;
      for (const [i, count] of counts.entries()) {
        total += count;
        yield sample(`${name}_bucket`, { operation, le: BUCKETS[i] ?? '+Inf' }, total);
      }
      yield sample(`${name}_sum`, { operation }, sum);
      yield sample(`${name}_count`, { operation }, total);
    }
  }

  *#gauges(): Iterable<string> {
    const leases = [...this.leases()];
    yield* header('idsmith_lease_active', 'gauge', 'Whether the lease allows minting: 1 or 0.');
    for (const { family, namespace, state } of leases)
      yield sample('idsmith_lease_active', { family, namespace }, state === 'active' ? 1 : 0);
    yield* header(
      'idsmith_lease_fence_seconds',
      'gauge',
      'Seconds until the fence, unless the lease is renewed.',
    );
    for (const { family, namespace, left } of leases)
      yield sample('idsmith_lease_fence_seconds', { family, namespace }, left);
    yield* header('idsmith_requests_in_flight', 'gauge', 'Requests that wait for the store.');
    yield sample('idsmith_requests_in_flight', {}, this.inFlight());
    yield* this.#eventLoop();
    yield* header('process_resident_memory_bytes', 'gauge', 'Resident memory.');
    yield sample('process_resident_memory_bytes', {}, process.memoryUsage.rss());
  }

  *#eventLoop(): Iterable<string> {
    const name = 'idsmith_event_loop_delay_seconds';
    yield* header(name, 'gauge', 'Delay of the event loop since the last read of this metric.');
    const seconds = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0);
    for (const share of [50, 99])
      yield sample(name, { quantile: share / 100 }, seconds(this.#loop.percentile(share)));
    yield sample(name, { quantile: 1 }, seconds(this.#loop.max));
    this.#loop.reset();
  }
}
