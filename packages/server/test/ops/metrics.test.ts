import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLog } from '../../src/ops/log.ts';
import { Counter } from '../../src/ops/metrics.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ log: 'requests' });
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
      ['idsmith_lease_active{family="flake",namespace="jflake"}', 1],
    ];
    for (const [series, value] of values) expect(await server.metric(series), series).toBe(value);
    expect(await server.metric('idsmith_block_fetches_total{sequence="a b"}')).toBeGreaterThan(0);
    const left = await server.metric('idsmith_lease_fence_seconds{family="flake",namespace="jflake"}');
    expect(left).toBeGreaterThan(5);
    expect(left).toBeLessThanOrEqual(30);
  });

  it('is in the format that Prometheus reads', async () => {
    const { text, headers } = await server.get('/metrics');
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const sample = /^[a-z_]+(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)*\})? -?[\d.e+-]+$/;
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

describe('The log', () => {
  it('is one JSON object a line, with every request if that is asked for', async () => {
    await server.post('/v1/flakes');
    await expect.poll(() => server.log.join('')).toContain('"path":"/v1/flakes"');
    const lines = server.log.map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ level: 'info', event: expect.any(String), time: expect.any(String) });
    expect(lines.find(({ event }) => event === 'request')).toMatchObject({
      ...{ method: 'POST', status: expect.any(Number), ms: expect.any(Number) },
    });
  });

  it('tells once a second what goes wrong all the time, and how often it did', () => {
    const lines: string[] = [];
    const log = makeLog('error', (line) => lines.push(line));
    const error = Object.assign(new Error('the disk is full'), { code: 'STORE' });
    for (let i = 0; i < 1000; i++) log.error('request failed', { path: '/v1/x', error });
    log.error('request failed', { path: '/v1/y', error });
    log.info('not this');
    expect(lines.map((line) => JSON.parse(line).path)).toEqual(['/v1/x', '/v1/y']);
  });

  it('says nothing of requests unless that is asked for', async () => {
    const quiet = await TestServer.start();
    await quiet.post('/v1/flakes');
    await quiet.stop();
    expect(quiet.log.join('')).not.toContain('flakes');
    expect(quiet.log.join('')).toContain('"event":"listening"');
  });
});
