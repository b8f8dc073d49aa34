import { openStore } from 'idsmith/stores';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Counter } from '../../src/ops/counter.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { withMetrics } from '../../src/ops/with-metrics.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.prepare();
});
afterAll(() => server?.stop());

describe('GET /metrics', () => {
  it('counts ids by family and sequence, requests, fetches and problems', async () => {
    await server.post('/v1/sequences', { body: { name: 'a b', blockSize: 5 } });
    await server.post('/v1/flakes?count=7');
    await server.post('/v1/locality?count=3');
    await server.post('/v1/sequences/a%20b/next?count=4');
    await server.post('/v1/sequences/none/next');
    const values: [series: string, value: number][] = [
      ['idsmith_ids_minted_total{family="flake",sequence=""}', 7],
      ['idsmith_ids_minted_total{family="locality",sequence=""}', 3],
      ['idsmith_ids_minted_total{family="sequence",sequence="a b"}', 4],
      ['idsmith_requests_total{method="POST",path="/v1/flakes",status="200"}', 1],
      ['idsmith_requests_total{method="POST",path="/v1/sequences/{name}/next",status="404"}', 1],
      ['idsmith_problems_total{code="NO_SUCH_SEQUENCE"}', 1],
      ['idsmith_lease_active{family="flake",generator="flake",namespace="jflake"}', 1],
    ];
    for (const [series, value] of values) expect(await server.metric(series), series).toBe(value);
    expect(await server.metric('idsmith_block_fetches_total{sequence="a b"}')).toBeGreaterThan(0);
    const left = await server.metric(
      'idsmith_lease_fence_seconds{family="flake",generator="flake",namespace="jflake"}',
    );
    expect(left).toBeGreaterThan(5);
    expect(left).toBeLessThanOrEqual(30);
  });

  it('has the time that requests took, also those that were refused', async () => {
    await server.post('/v1/flakes');
    await server.post('/v1/sequences/none/next');
    await server.get('/v1/nothing');
    const labels = [
      'method="POST",path="/v1/flakes"',
      'method="POST",path="/v1/sequences/{name}/next"',
      'method="GET",path="unknown"',
    ];
    for (const each of labels) {
      const sum = await server.metric(`idsmith_http_request_duration_seconds_sum{${each}}`);
      expect(sum, each).toBeGreaterThan(0);
      expect(sum, each).toBeLessThan(60);
    }
  });

  it('is in the format that Prometheus reads', async () => {
    const { text, headers } = await server.get('/metrics');
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const sample = /^[a-z_]+(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)*\})? (-?[\d.e+-]+|\+Inf)$/;
    const lines = text.trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(line.startsWith('#') ? /^# (HELP|TYPE) [a-z_]+ / : sample);
    const named = new Set(
      lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2]),
    );
    for (const line of lines)
      if (!line.startsWith('#')) {
        const name = line.split(/[{ ]/, 1)[0] as string;
        expect([...named]).toContain(name.replace(/_(bucket|sum|count)$/, ''));
      }
  });

  it('has a histogram of the store whose buckets add up', async () => {
    const { text } = await server.get('/metrics');
    const buckets = [...text.matchAll(/_bucket\{operation="allocate",le="([^"]+)"\} (\d+)/g)];
    const counts = buckets.map(([, , count]) => Number(count));
    expect(buckets.at(-1)?.[1]).toBe('+Inf');
    expect([...counts].sort((a, b) => a - b)).toEqual(counts);
    expect(counts.at(-1)).toBe(
      await server.metric('idsmith_store_duration_seconds_count{operation="allocate"}'),
    );
    expect(await server.metric('idsmith_event_loop_delay_seconds{quantile="0.99"}')).toBeGreaterThan(0);
  });

  it('does not grow with names that somebody makes up', async () => {
    for (let i = 0; i < 50; i++) await server.get(`/made-up/${i}`);
    const { text } = await server.get('/metrics');
    expect(text).not.toContain('made-up');
    const counter = new Counter('name');
    for (let i = 0; i < 5000; i++) counter.add(1, `name ${i}`);
    const samples = [...counter.samples()];
    expect(samples.length).toBeLessThanOrEqual(1001);
    expect(samples.reduce((sum, [, count]) => sum + count, 0)).toBe(5000);
  });
});

it('A store whose operations are counted is the same store otherwise', async () => {
  const store = await openStore('sqlite::memory:');
  const counted = withMetrics(store, new Metrics());
  expect(counted.sql).toBe(store.sql);
  expect(counted.sql).toBeDefined();
  expect(Object.keys(counted)).toEqual(Object.keys(store));
  await store.close();
});
