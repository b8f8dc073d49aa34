import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { memoryStore, StoreError } from 'idsmith';
import { connect } from 'idsmith/connect';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';

const example = (path: string) => fileURLToPath(new URL(`../../examples/${path}`, import.meta.url));

interface Telemetry {
  watchIdsmith(options: object): () => void;
}

/** A service with the example of OpenTelemetry, whose exporters keep everything. */
async function watchedService() {
  const { watchIdsmith } = (await import(example('opentelemetry/telemetry.mjs'))) as Telemetry;
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
  const spans = new InMemorySpanExporter();
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const lines: Record<string, unknown>[] = [];
  const stop = watchIdsmith({
    meter: meters.getMeter('test'),
    tracer: tracers.getTracer('test'),
    log: (line: string) => lines.push(JSON.parse(line)),
  });
  /** The values of an instrument, by the attributes that they have. */
  async function valuesOf(name: string): Promise<[attributes: object, value: unknown][]> {
    exporter.reset();
    await meters.forceFlush();
    const all = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    const found = all.flatMap((scope) => scope.metrics).find(({ descriptor }) => descriptor.name === name);
    return (found?.dataPoints ?? []).map(({ attributes, value }) => [attributes, value]);
  }
  return { spans, lines, valuesOf, stop, end: () => Promise.all([meters.shutdown(), tracers.shutdown()]) };
}

describe('the example of OpenTelemetry', () => {
  it('counts ids and events, and times fetches', async () => {
    const { spans, lines, valuesOf, stop, end } = await watchedService();
    const ids = await connect('memory:');
    await ids.flakes('orders');
    const invoices = await ids.sequence('invoices', { define: { blockSize: 20 }, prefetch: 0 });
    await invoices.batch(45);
    const sequence = { 'idsmith.sequence': 'invoices' };
    const [[attributes, count] = []] = await valuesOf('idsmith.sequence.ids');
    expect(attributes).toEqual(sequence);
    // Whole blocks.
    expect([60, 80]).toContain(count);
    const events = await valuesOf('idsmith.events');
    expect(events).toContainEqual([
      { 'idsmith.channel': 'idsmith:store', 'idsmith.event': 'opened', 'idsmith.store': 'memory' },
      1,
    ]);
    expect(events).toContainEqual([
      { 'idsmith.channel': 'idsmith:lease', 'idsmith.event': 'acquired', 'idsmith.namespace': 'jflake' },
      1,
    ]);
    const fetches = spans.getFinishedSpans();
    expect(fetches.map(({ name }) => name)).toContain('idsmith sequence fetch');
    expect(await valuesOf('idsmith.sequence.fetch.duration')).toEqual([
      [sequence, expect.objectContaining({ count: fetches.length })],
    ]);
    expect(lines).toEqual([]);
    await ids.close();
    stop();
    await end();
  });

  it('shows the time left of a lease, and 0 after its release', async () => {
    const { valuesOf, stop, end } = await watchedService();
    const ids = await connect('memory:');
    await ids.flakes('orders', { ttl: 60_000 });
    const [[attributes, left] = []] = await valuesOf('idsmith.lease.left');
    expect(attributes).toEqual({ 'idsmith.namespace': 'jflake' });
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60);
    await ids.close();
    expect(await valuesOf('idsmith.lease.left')).toEqual([[attributes, 0]]);
    stop();
    await end();
  });

  it('tells of failures in a span and in a line', async () => {
    const { spans, lines, stop, end } = await watchedService();
    const time = new FakeTime();
    const store = memoryStore();
    const ids = await connect({ ...store, now: async () => time.now });
    await ids.flakes('orders', { clock: time.clock(), timer: time });
    const away = new StoreError('away');
    Object.assign(ids.store, { now: () => Promise.reject(away) });
    await time.advance(15_000);
    const failed = spans.getFinishedSpans().filter(({ name }) => name === 'idsmith lease renewal-failed');
    expect(failed.length).toBeGreaterThan(0);
    expect(failed[0]?.attributes).toEqual({ 'idsmith.namespace': 'jflake' });
    expect(failed[0]?.status.message).toBe('away');
    expect(failed[0]?.events[0]?.name).toBe('exception');
    expect(lines).toHaveLength(failed.length);
    expect(lines[0]).toMatchObject({ level: 'error', family: 'lease', code: 'STORE', message: 'away' });
    stop();
    await ids.close().catch(() => undefined);
    expect(lines).toHaveLength(failed.length);
    await end();
  });

  it('runs as it stands', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [example('opentelemetry/main.mjs')], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const name of ['idsmith.events', 'idsmith.sequence.ids', 'idsmith.lease.left'])
      expect(stdout).toContain(`name: '${name}'`);
    expect(stdout).toContain(`name: 'idsmith sequence fetch'`);
  });
});
