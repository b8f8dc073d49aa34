import process from 'node:process';
import { Counter, type Labels } from './counter.js';
import { EventLoop } from './event-loop.js';

/** Upper bounds of durations, seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A histogram of durations. */
export class Durations {
  readonly counts = new Float64Array(BUCKETS.length + 1);
  sum = 0;

  get count(): number {
    return this.counts.reduce((total, count) => total + count, 0);
  }

  add(seconds: number): void {
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    this.counts[bucket < 0 ? BUCKETS.length : bucket]! += 1;
    this.sum += seconds;
  }
}

/** The state of a lease, as metrics show it. */
export interface LeaseGauge {
  readonly family: string;
  /** The name of the generator, such as `locality sequential` or `flake 2`. */
  readonly generator: string;
  readonly namespace: string;
  readonly state: string;
  /** Seconds until minting stops, unless the lease is renewed. */
  readonly left: number;
}

/** The ids left in a sequence, as metrics show them. */
export interface SequenceGauge {
  readonly sequence: string;
  /** The ids that blocks will reach; infinite for a cycle. */
  readonly remaining: number;
  /** The time until none is left; infinite for a sequence that is not used. */
  readonly seconds: number;
}

/** The node ids of a namespace, as metrics show them. */
interface NamespaceGauge {
  readonly namespace: string;
  readonly held: number;
  /** `null` where nobody knows. */
  readonly size: number | null;
}

/** A shard, as metrics show it. */
export interface ShardGauge {
  /** The name in the config. */
  readonly shard: string;
  readonly address: string;
  readonly isUp: boolean;
}

/** State that is read for one answer. */
export interface Gauges {
  readonly sequences: readonly SequenceGauge[];
  readonly namespaces: readonly NamespaceGauge[];
  readonly shards: readonly ShardGauge[];
  /** The number of the store's warnings. */
  readonly warnings: number;
}

const NO_GAUGES: Gauges = { sequences: [], namespaces: [], shards: [], warnings: 0 };

/** Sums since the start of the server, for its history. */
export interface Totals {
  readonly minted: Readonly<Record<string, number>>;
  /** Requests of clients: those of the console and of probes are no load. */
  readonly requests: number;
  readonly refusals: number;
  readonly storeCalls: number;
  readonly storeErrors: number;
  readonly storeSeconds: number;
  /** The highest in the last minute, seconds. */
  readonly loopDelay: number;
  /** Bytes. */
  readonly memory: number;
}

/** Paths that probes and scrapers ask for. */
export const PROBES: readonly string[] = ['/healthz', '/readyz', '/metrics'];

/** Paths that are no load of clients. The page `/` is the console. */
const NO_LOAD: readonly string[] = [...PROBES, '/'];

/** The most sequences and namespaces in the metrics. Those that run out first come first. */
const MAX_GAUGES = 100;

/** All counts and measurements of a server, and their text for Prometheus. */
export class Metrics {
  readonly minted = new Counter('family', 'sequence');
  readonly blockFetches = new Counter('sequence');
  readonly requests = new Counter('method', 'path', 'status');
  readonly problems = new Counter('code');
  readonly refusals = new Counter('code', 'method', 'path');
  readonly sequenceRefusals = new Counter('sequence', 'code');
  readonly repeats = new Counter('outcome');
  readonly undelivered = new Counter('path');
  readonly givenUp = new Counter();
  readonly tenants = new Counter('token');
  readonly storeErrors = new Counter('operation');
  readonly storeWentBack = new Counter('operation');
  readonly #storeDurations = new Map<string, Durations>();
  readonly #loop = new EventLoop();
  /** Called whenever metrics are read. */
  leases: () => Iterable<LeaseGauge> = () => [];
  inFlight: () => number = () => 0;
  /** Requests of the console. */
  readonly console = { count: 0 };
  readonly #requestDurations = new Map<string, { method: string; path: string; durations: Durations }>();
  readonly #version: string;
  readonly #startedAt = Date.now() / 1000 - process.uptime();

  constructor(version = 'unknown') {
    this.#version = version;
  }

  /** The histogram of the requests of a route. Hot paths keep it. */
  durationsOf(method: string, path: string): Durations {
    const key = `${method} ${path}`;
    const known = this.#requestDurations.get(key) ?? { method, path, durations: new Durations() };
    this.#requestDurations.set(key, known);
    return known.durations;
  }

  /** Sums since the start of the server. */
  totals(): Totals {
    const minted: Record<string, number> = {};
    for (const [{ family = '' }, count] of this.minted.samples())
      minted[family] = (minted[family] ?? 0) + count;
    const [requests, refusals] = [this.requests, this.refusals].map((counter) =>
      [...counter.samples()]
        .filter(([{ path = '' }]) => !NO_LOAD.includes(String(path)))
        .reduce((total, [, count]) => total + count, 0),
    ) as [number, number];
    const store = [...this.#storeDurations.values()];
    return {
      minted,
      requests: Math.max(0, requests - this.console.count),
      refusals,
      storeCalls: store.reduce((total, { count }) => total + count, 0),
      storeSeconds: store.reduce((total, { sum }) => total + sum, 0),
      storeErrors: [...this.storeErrors.samples()].reduce((total, [, count]) => total + count, 0),
      loopDelay: this.#loop.read().max,
      memory: process.memoryUsage.rss(),
    };
  }

  /** Records the duration of one operation of the store. */
  recordStoreDuration(operation: string, seconds: number): void {
    const durations = this.#storeDurations.get(operation) ?? new Durations();
    this.#storeDurations.set(operation, durations);
    durations.add(seconds);
  }

  close(): void {
    this.#loop.close();
  }

  /** All metrics in the text format of Prometheus. */
  text({ sequences, namespaces, shards, warnings }: Gauges = NO_GAUGES): string {
    const lines = [
      ...counterLines('idsmith_ids_minted_total', 'Ids minted.', this.minted),
      ...counterLines(
        'idsmith_block_fetches_total',
        'Runs of blocks taken from the store.',
        this.blockFetches,
      ),
      ...counterLines('idsmith_requests_total', 'Requests answered.', this.requests),
      ...header(
        'idsmith_console_requests_total',
        'counter',
        'Requests of open consoles among those answered. They are no load of clients.',
      ),
      sample('idsmith_console_requests_total', {}, this.console.count),
      ...counterLines('idsmith_problems_total', 'Requests answered with a problem.', this.problems),
      ...counterLines('idsmith_refusals_total', 'Requests answered with a problem, by route.', this.refusals),
      ...counterLines(
        'idsmith_sequence_refusals_total',
        'Requests for ids of a sequence that were refused.',
        this.sequenceRefusals,
      ),
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
      ...counterLines(
        'idsmith_tenants_begun_total',
        'Tenants of series that got their first counter.',
        this.tenants,
      ),
      ...counterLines('idsmith_store_errors_total', 'Operations of the store that failed.', this.storeErrors),
      ...counterLines(
        'idsmith_store_went_back_total',
        'Operations that were refused because the store has lost acknowledged writes.',
        this.storeWentBack,
      ),
      ...header('idsmith_store_warnings', 'gauge', 'What the store tells an operator, in warnings.'),
      sample('idsmith_store_warnings', {}, warnings),
      ...this.#storeHistogram(),
      ...this.#requestHistogram(),
      ...sequenceLines(sequences),
      ...namespaceLines(namespaces),
      ...shardLines(shards),
      ...this.#gauges(),
    ];
    return `${lines.join('\n')}\n`;
  }

  *#storeHistogram(): Iterable<string> {
    const name = 'idsmith_store_duration_seconds';
    yield* header(name, 'histogram', 'Duration of operations of the store.');
    for (const [operation, durations] of this.#storeDurations)
      yield* histogramLines(name, { operation }, durations);
  }

  *#requestHistogram(): Iterable<string> {
    const name = 'idsmith_http_request_duration_seconds';
    yield* header(name, 'histogram', 'Time from the arrival of a request to its answer.');
    for (const { method, path, durations } of this.#requestDurations.values())
      if (durations.count > 0) yield* histogramLines(name, { method, path }, durations);
  }

  *#gauges(): Iterable<string> {
    const leases = [...this.leases()];
    yield* header('idsmith_lease_active', 'gauge', 'Whether the lease allows minting: 1 or 0.');
    for (const { family, generator, namespace, state } of leases)
      yield sample('idsmith_lease_active', { family, generator, namespace }, state === 'active' ? 1 : 0);
    yield* header(
      'idsmith_lease_fence_seconds',
      'gauge',
      'Seconds until the fence, unless the lease is renewed.',
    );
    for (const { family, generator, namespace, left } of leases)
      yield sample('idsmith_lease_fence_seconds', { family, generator, namespace }, left);
    yield* header('idsmith_requests_in_flight', 'gauge', 'Requests that wait for the store.');
    yield sample('idsmith_requests_in_flight', {}, this.inFlight());
    yield* this.#eventLoop();
    yield* header('idsmith_build_info', 'gauge', 'The version of the server and of Node. Always 1.');
    yield sample('idsmith_build_info', { version: this.#version, node: process.versions.node }, 1);
    yield* header('process_resident_memory_bytes', 'gauge', 'Resident memory.');
    yield sample('process_resident_memory_bytes', {}, process.memoryUsage.rss());
    const { user, system } = process.cpuUsage();
    yield* header(
      'process_cpu_seconds_total',
      'counter',
      'Time of the processor, of the user and the system.',
    );
    yield sample('process_cpu_seconds_total', {}, (user + system) / 1e6);
    yield* header('process_start_time_seconds', 'gauge', 'Start of the process, Unix seconds.');
    yield sample('process_start_time_seconds', {}, this.#startedAt);
  }

  *#eventLoop(): Iterable<string> {
    const name = 'idsmith_event_loop_delay_seconds';
    yield* header(name, 'summary', 'Delay of the event loop: the highest in the last minute.');
    const { p50, p99, max } = this.#loop.read();
    for (const [quantile, seconds] of [
      [0.5, p50],
      [0.99, p99],
      [1, max],
    ] as const)
      yield sample(name, { quantile }, seconds);
  }
}

// The text format of Prometheus, version 0.0.4.

/** The sequences that end first, as many as metrics show. */
export function nearestSequences(sequences: readonly SequenceGauge[]): SequenceGauge[] {
  return sequences
    .toSorted((a, b) => a.seconds - b.seconds || a.remaining - b.remaining)
    .slice(0, MAX_GAUGES);
}

function* sequenceLines(sequences: readonly SequenceGauge[]): Iterable<string> {
  const shown = nearestSequences(sequences);
  const remaining = 'idsmith_sequence_remaining_ids';
  yield* header(remaining, 'gauge', 'Ids in the store that blocks will reach. The sequences that end first.');
  for (const { sequence, ...gauge } of shown) yield sample(remaining, { sequence }, gauge.remaining);
  const seconds = 'idsmith_sequence_exhaustion_seconds';
  yield* header(seconds, 'gauge', 'Seconds until no id is left at the rate so far. 0 if none is left.');
  for (const { sequence, ...gauge } of shown) yield sample(seconds, { sequence }, gauge.seconds);
}

function* namespaceLines(namespaces: readonly NamespaceGauge[]): Iterable<string> {
  const share = ({ held, size }: NamespaceGauge) => (size === null ? 0 : held / size);
  const shown = [...namespaces].sort((a, b) => share(b) - share(a)).slice(0, MAX_GAUGES);
  const held = 'idsmith_namespace_node_ids_held';
  yield* header(held, 'gauge', 'Node ids that are held.');
  for (const { namespace, ...gauge } of shown) yield sample(held, { namespace }, gauge.held);
  const size = 'idsmith_namespace_node_ids_size';
  yield* header(size, 'gauge', 'Node ids of the namespace, where its layout is known.');
  for (const { namespace, ...gauge } of shown)
    if (gauge.size !== null) yield sample(size, { namespace }, gauge.size);
}

function* shardLines(shards: readonly ShardGauge[]): Iterable<string> {
  const up = 'idsmith_shard_up';
  yield* header(up, 'gauge', 'Whether the shard answers: 1 or 0.');
  for (const { shard, address, isUp } of shards) yield sample(up, { shard, address }, isUp ? 1 : 0);
}

function* histogramLines(name: string, labels: Labels, { counts, sum }: Durations): Iterable<string> {
  let total = 0;
  for (const [i, count] of counts.entries()) {
    total += count;
    yield sample(`${name}_bucket`, { ...labels, le: BUCKETS[i] ?? '+Inf' }, total);
  }
  yield sample(`${name}_sum`, labels, sum);
  yield sample(`${name}_count`, labels, total);
}

function* counterLines(name: string, help: string, counter: Counter): Iterable<string> {
  yield* header(name, 'counter', help);
  for (const [labels, count] of counter.samples()) yield sample(name, labels, count);
}

function* header(name: string, type: string, help: string): Iterable<string> {
  yield `# HELP ${name} ${help}`;
  yield `# TYPE ${name} ${type}`;
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text))}"`);
  const shown = value === Number.POSITIVE_INFINITY ? '+Inf' : value;
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${shown}`;
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
