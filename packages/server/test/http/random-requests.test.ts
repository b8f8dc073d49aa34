import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange } from '../support/raw.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
/** A server that ends connections without a whole request after a second. Only requests that may end so are sent there. */
let impatient: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ maxConnections: 200 });
  impatient = await TestServer.start({ requestTimeout: 1000 });
  for (const each of [server, impatient]) await each.post('/v1/sequences', { body: { name: 'x' } });
});
afterAll(() => Promise.all([server?.stop(), impatient?.stop()]));

/** That it still serves, and has not found anything that nobody had foreseen. */
async function expectHealthy(asked = server): Promise<void> {
  expect((await asked.post('/v1/flakes?count=2')).json.ids).toHaveLength(2);
  expect((await asked.post('/v1/sequences/x/next')).json.ids).toHaveLength(1);
  expect(await asked.metric('idsmith_problems_total{code="INTERNAL"}')).toBe(0);
}

const PATHS = [
  '/v1/flakes',
  '/v1/locality',
  '/v1/uuid7',
  '/v1/keys',
  '/v1/sequences',
  '/v1/sequences/x',
  '/v1/sequences/x/next',
  '/v1/sequences/x/blocks',
  '/v1/sequences/x/tails',
  '/v1/leases/x',
  '/v1/leases/x/swap',
  '/v1/inspect/1',
];

describe('A server under random requests goes on serving', () => {
  it('when they are bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 3000 }), async (bytes) => {
        await exchange(impatient.port, bytes, '\r\n\r\n\r\n\r\n');
      }),
      { numRuns: 100 },
    );
    await expectHealthy(impatient);
  });

  it('when they are nearly HTTP', async () => {
    const line = fc.string({ unit: 'binary-ascii', maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'BREW'),
        line,
        line,
        line,
        async (method, path, name, value) => {
          const head = `${method} /${path} HTTP/1.1\r\nHost: localhost\r\n${name}: ${value}\r\n`;
          await exchange(impatient.port, `${head}Connection: close\r\n\r\n`);
        },
      ),
      { numRuns: 150 },
    );
    await expectHealthy(impatient);
  });

  it('when their bodies and queries are any JSON and any text', async () => {
    const key = fc.constantFrom(
      'name',
      'start',
      'step',
      'min',
      'max',
      'next',
      'expected',
      'first',
      'count',
      'x',
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.bigInt().map(String),
      fc.double(),
      fc.constantFrom(2 ** 53, -(2 ** 63), 1e308, '', '9'.repeat(400)),
    );
    const body = fc.oneof(fc.jsonValue(), fc.dictionary(key, value, { maxKeys: 6 }));
    const query = fc.oneof(
      fc.constant(''),
      fc.string({ unit: 'binary' }).map((text) => `?count=${encodeURIComponent(text)}`),
      fc.string().map((text) => `?${encodeURIComponent(text)}=1&mode=x`),
    );
    const method = fc.constantFrom('GET', 'POST', 'PATCH', 'PUT');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PATHS), query, method, body, async (path, search, verb, json) => {
        const { status } = await server.call(verb, path + search, verb === 'GET' ? {} : { body: json });
        expect([200, 201, 400, 404, 405, 409, 410, 413, 415, 422, 501]).toContain(status);
      }),
      { numRuns: 400 },
    );
    await expectHealthy();
  }, 180_000);

  it('when JSON is deep, wide or says more than there is', async () => {
    const bodies = [
      '['.repeat(60_000),
      '{"a":'.repeat(10_000),
      `{"name":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      `{${Array.from({ length: 5000 }, (_, i) => `"k${i}":1`).join(',')}}`,
      `{"name":"x","start":${'9'.repeat(60_000)}}`,
      '{"name":"x","constructor":{"prototype":{"polluted":true}}}',
      '\ufeff{}',
      'null',
    ];
    for (const body of bodies) {
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(`${server.url}/v1/sequences`, { method: 'POST', body, headers });
      expect([400, 413, 422]).toContain(status);
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    const head = 'POST /v1/sequences HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const huge = await exchange(server.port, `${head}Content-Length: 99999999999\r\n\r\n{`);
    expect(huge).toMatch(/^HTTP\/1.1 413 /);
    const chunked = await exchange(
      server.port,
      `${head}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFF\r\n${'x'.repeat(70_000)}`,
    );
    expect(chunked).toMatch(/^HTTP\/1.1 4\d\d /);
    const both = await exchange(
      server.port,
      `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    expect(both).toMatch(/^HTTP\/1.1 400 /);
    await expectHealthy();
  });

  it('when a hundred bodies arrive a byte at a time, or not at all', async () => {
    const head = 'POST /v1/sequences HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const slow = Array.from({ length: 100 }, (_, i) =>
      exchange(impatient.port, i % 2 === 0 ? `${head}Content-Length: 90\r\n\r\n{` : 'POST /v1/se'),
    );
    await expectHealthy(impatient);
    for (const answer of await Promise.all(slow)) expect(answer).toMatch(/^HTTP\/1.1 408 /);
    await expectHealthy(impatient);
  });

  it('when there are more connections than it takes, which are told so', async () => {
    // The first 200 say nothing.
    const answers = Array.from({ length: 300 }, (_, i) => {
      const socket = connect(server.port, '127.0.0.1');
      if (i >= 200) socket.write('POST /v1/flakes HTTP/1.1\r\nHost: localhost\r\n\r\n');
      let text = '';
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        text += chunk;
      });
      return { socket, text: () => text };
    });
    const refused = () => answers.filter(({ text }) => /^HTTP\/1.1 503 .*OVERLOADED/s.test(text())).length;
    await expect.poll(refused).toBeGreaterThan(20);
    for (const { socket } of answers) socket.destroy();
    await expect.poll(async () => (await server.get('/healthz').catch(() => undefined))?.status).toBe(200);
    await expectHealthy();
  });
});
