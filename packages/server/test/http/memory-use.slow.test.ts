import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerProcess } from '#services';
import { metricOf, startIdsmithWith } from '../support/process.ts';
import { flood } from '../support/raw.ts';

/** A million, to be sure: IDSMITH_REQUESTS=1000000 npx vitest run packages/server/test/http/memory-use.slow.test.ts */
const REQUESTS = Number(process.env.IDSMITH_REQUESTS ?? 50_000);
const MB = 2 ** 20;

const HOST = 'HTTP/1.1\r\nHost: localhost\r\n';
const KINDS: ((i: number) => string)[] = [
  () => `POST /v1/flakes ${HOST}\r\n`,
  () => `POST /v1/sequences/x/next ${HOST}\r\n`,
  () => `POST /v1/locality?count=5 ${HOST}\r\n`,
  () => `POST /v1/flakes?count=20 ${HOST}Idempotency-Key: ${crypto.randomUUID()}\r\n\r\n`,
  (i) => `GET /nowhere/${i} ${HOST}\r\n`,
  (i) => `POST /v1/flakes?count=0${i} ${HOST}\r\n`,
  (i) => `GET /v1/sequences/unknown-${i} ${HOST}\r\n`,
];

describe('The memory of a server', () => {
  let server: ServerProcess;
  const resident = () => metricOf(server.url, 'process_resident_memory_bytes');

  beforeAll(async () => {
    // A small heap, so that garbage is collected and does not look like a leak.
    const heap = { NODE_OPTIONS: '--max-old-space-size=96 --max-semi-space-size=2' };
    server = await startIdsmithWith(heap, '--log', 'silent');
    const headers = { 'content-type': 'application/json' };
    await fetch(`${server.url}/v1/sequences`, {
      method: 'POST',
      headers,
      body: '{"name":"x","blockSize":1000}',
    });
  });
  afterAll(() => server?.stop());

  it(`is the same after ${REQUESTS} requests`, async () => {
    const request = (i: number) => KINDS[i % KINDS.length]!(i);
    // The answers that it remembers are part of it: ten thousand of them.
    await flood(server.port, 11_000, (i) => KINDS[3]!(i));
    await flood(server.port, 5000, request);
    const before = await resident();
    const statuses = await flood(server.port, REQUESTS, request);
    expect([...statuses.keys()].sort()).toEqual(['200', '404', '422']);
    expect([...statuses.values()].reduce((a, b) => a + b)).toBe(REQUESTS);
    expect((await resident()) - before).toBeLessThan(24 * MB);
  }, 600_000);

  it('does not fill with answers that nobody reads', async () => {
    const before = await resident();
    const request = `POST /v1/flakes?count=10000 ${HOST}\r\n`;
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      // 200 answers of 220 kB each: 880 MB, if it made them all.
      socket.write(request.repeat(200));
      return socket;
    });
    const refused = 'idsmith_problems_total{code="OVERLOADED"}';
    await expect.poll(() => metricOf(server.url, refused)).toBeGreaterThan(100);
    expect((await fetch(`${server.url}/v1/flakes`, { method: 'POST' })).status).toBe(200);
    expect((await resident()) - before).toBeLessThan(150 * MB);
    for (const socket of sockets) socket.destroy();
    // All is forgotten, and requests may be sent ahead again.
    await expect
      .poll(async () => [...(await flood(server.port, 100, () => `POST /v1/flakes ${HOST}\r\n`)).keys()])
      .toEqual(['200']);
  });
});
